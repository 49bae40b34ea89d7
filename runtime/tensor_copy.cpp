// What tensors do with the elements: copies, fills and sums without gradient.
#include <algorithm>
#include <array>
#include <vector>

#include "runtime/autograd.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"

namespace lockstep {
namespace {

/// Elements that one thread handles at least; below that, starting the team costs more than it saves.
constexpr int64_t kGrain = 1 << 15;

/// Visits the elements of a strided view in row-major order: visit(position in the view, offset in elements).
template <class Visit>
void for_each_element(const Shape& shape, const Shape& strides, Visit visit) {
  const int ndim = shape.ndim();
  const int64_t count = shape.count();
  std::array<int64_t, Shape::kMaxDims> index{};
  int64_t offset = 0;
  for (int64_t position = 0; position < count; ++position) {
    visit(position, offset);
    for (int dim = ndim - 1; dim >= 0; --dim) {
      const auto d = static_cast<size_t>(dim);
      offset += strides[dim];
      if (++index[d] < shape[dim]) break;
      offset -= strides[dim] * shape[dim];
      index[d] = 0;
    }
  }
}

template <class T>
void copy_elements(T* target, const Shape& target_strides, const T* source, const Shape& source_strides,
                   const Shape& shape) {
  if (source_strides == row_major_strides(shape)) {
    for_each_element(shape, target_strides, [&](int64_t i, int64_t offset) { target[offset] = source[i]; });
  } else if (target_strides == row_major_strides(shape)) {
    for_each_element(shape, source_strides, [&](int64_t i, int64_t offset) { target[i] = source[offset]; });
  } else {
    std::vector<T> packed(static_cast<size_t>(shape.count()));
    copy_elements(packed.data(), row_major_strides(shape), source, source_strides, shape);
    copy_elements(target, target_strides, packed.data(), row_major_strides(shape), shape);
  }
}

/// Sums in f32, rounded to the elements' type.
template <class T>
void add_elements(T* target, const T* addend, size_t nbytes) {
  parallel_for(static_cast<int64_t>(nbytes / sizeof(T)), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      target[i] = static_cast<T>(static_cast<float>(target[i]) + static_cast<float>(addend[i]));
    }
  });
}

}  // namespace

Tensor Tensor::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Tensor Tensor::clone() const {
  Tensor copy = empty(shape(), dtype(), device());
  copy.copy_from(*this);
  return copy;
}

Tensor Tensor::to(const Device& target) const {
  if (target == device()) return *this;
  const Tensor source = lockstep::plain(detach()).contiguous();
  Tensor copy = empty(shape(), dtype(), target);
  copy_device_memory(copy.raw(), target, source.raw(), device(), source.nbytes());
  return copy;
}

void Tensor::copy_from(const Tensor& source) {
  check(shape() == source.shape() && dtype() == source.dtype(), "copy", "target is ", dtype(), " ", shape(),
        ", source is ", source.dtype(), " ", source.shape());
  bump_version();
  if (count() == 0) return;
  if (source.layout() && is_contiguous()) {
    source.layout()->unpack(source.raw(), raw());
    return;
  }
  if (is_contiguous() && source.is_contiguous()) {
    copy_device_memory(raw(), device(), source.raw(), source.device(), nbytes());
    return;
  }
  check(device() == kCpu && source.device() == kCpu, "copy", "strided copies work on the CPU only, got ",
        device(), " and ", source.device());
  const Tensor packed = lockstep::plain(source.detach());
  visit_dtype(dtype(), [&](auto type) {
    using T = decltype(type);
    copy_elements(data<T>(), strides(), packed.data<T>(), packed.strides(), shape());
  });
}

void Tensor::fill(double value) {
  check(device() == kCpu && is_contiguous(), "fill", "works on contiguous CPU memory, got shape ", shape(),
        " on ", device());
  bump_version();
  visit_dtype(dtype(), [&](auto type) {
    using T = decltype(type);
    T element{};
    if constexpr (std::is_class_v<T>) {
      element = T(static_cast<float>(value));
    } else {
      element = static_cast<T>(value);
    }
    T* elements = data<T>();
    parallel_for(count(), kGrain,
                 [&](int64_t begin, int64_t end) { std::fill(elements + begin, elements + end, element); });
  });
}

void Tensor::add_in_place(const Tensor& source) {
  const bool same_layout =
      layout() == source.layout() || (layout() && source.layout() && layout()->name == source.layout()->name);
  const bool adds = dtype() == DType::kF32 || dtype() == DType::kBF16;
  check(shape() == source.shape() && same_layout && adds && source.dtype() == dtype() &&
            (layout() || (is_contiguous() && source.is_contiguous())),
        "add_in_place", "expected two f32 or bf16 tensors of one type, shape and layout, got ", dtype(), " ",
        shape(), " and ", source.dtype(), " ", source.shape());
  check(device() == kCpu && source.device() == kCpu, "add_in_place", "works on the CPU only, got ", device(),
        " and ", source.device());
  bump_version();
  if (dtype() == DType::kF32) {
    add_elements(static_cast<float*>(raw()), static_cast<const float*>(source.raw()), nbytes());
  } else {
    add_elements(static_cast<BFloat16*>(raw()), static_cast<const BFloat16*>(source.raw()), nbytes());
  }
}

}  // namespace lockstep

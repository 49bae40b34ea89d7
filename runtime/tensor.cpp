#include "runtime/tensor.h"

#include <cstring>

#include "runtime/autograd.h"

namespace lockstep {
namespace {

void check_extents(const char* operation, const Shape& shape) {
  for (const int64_t extent : shape) check(extent >= 0, operation, "negative extent in shape ", shape);
}

/// Of the elements of a row-major tensor.
size_t bytes_of(const Shape& shape, DType dtype) {
  check_extents("tensor", shape);
  size_t nbytes = 0;
  check(!__builtin_mul_overflow(static_cast<size_t>(shape.count()), size_of(dtype), &nbytes), "tensor", shape,
        " of ", dtype, " has more than 2^64 bytes");
  return nbytes;
}

}  // namespace

struct Tensor::Impl {
  std::shared_ptr<Storage> storage;
  size_t offset = 0;  // bytes
  Shape shape;
  Shape strides;
  int64_t count = 0;
  DType dtype = DType::kF32;
  std::shared_ptr<const OpaqueLayout> layout;
  std::shared_ptr<Node> node;
  std::shared_ptr<LeafGradient> leaf;
};

const Tensor::Impl& Tensor::impl() const {
  ensure(impl_ != nullptr, "tensor", "use of an undefined tensor");
  return *impl_;
}

Tensor::Impl& Tensor::impl() {
  ensure(impl_ != nullptr, "tensor", "use of an undefined tensor");
  return *impl_;
}

Tensor Tensor::on(std::shared_ptr<Storage> storage, size_t offset, const Shape& shape, DType dtype) {
  const size_t nbytes = bytes_of(shape, dtype);
  const size_t available = storage->nbytes();
  check(offset % size_of(dtype) == 0 && nbytes <= available && offset <= available - nbytes, "tensor", shape,
        " of ", dtype, " at byte ", offset, " does not fit a storage of ", available, " bytes");
  auto impl = std::make_shared<Impl>();
  impl->storage = std::move(storage);
  impl->offset = offset;
  impl->shape = shape;
  impl->strides = row_major_strides(shape);
  impl->count = shape.count();
  impl->dtype = dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::empty(const Shape& shape, DType dtype, const Device& device) {
  return on(Storage::allocate(bytes_of(shape, dtype), device), 0, shape, dtype);
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, const Device& device) {
  return full(shape, 0, dtype, device);
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype, const Device& device) {
  Tensor host = empty(shape, dtype);
  host.fill(value);
  return host.to(device);
}

template <class T>
Tensor Tensor::from(const std::vector<T>& values, const Shape& shape) {
  check(static_cast<int64_t>(values.size()) == shape.count(), "tensor", "shape ", shape, " holds ",
        shape.count(), " elements, got ", values.size(), " values");
  Tensor tensor = empty(shape, DTypeOf<T>::value);
  if (!values.empty()) std::memcpy(tensor.raw(), values.data(), tensor.nbytes());
  return tensor;
}

Tensor Tensor::opaque(const Shape& shape, DType dtype, std::shared_ptr<const OpaqueLayout> layout,
                      const Device& device) {
  auto impl = std::make_shared<Impl>();
  impl->storage = Storage::allocate(layout->nbytes, device);
  impl->shape = shape;
  impl->strides = row_major_strides(shape);
  impl->count = shape.count();
  impl->dtype = dtype;
  impl->layout = std::move(layout);
  return Tensor(std::move(impl));
}

const Shape& Tensor::shape() const {
  return impl().shape;
}
const Shape& Tensor::strides() const {
  return impl().strides;
}
int64_t Tensor::count() const {
  return impl().count;
}
DType Tensor::dtype() const {
  return impl().dtype;
}
const Device& Tensor::device() const {
  return impl().storage->device();
}
const std::shared_ptr<const OpaqueLayout>& Tensor::layout() const {
  return impl().layout;
}
const std::shared_ptr<Storage>& Tensor::storage() const {
  return impl().storage;
}
void* Tensor::raw() const {
  return impl().storage->data() + impl().offset;
}

size_t Tensor::nbytes() const {
  return layout() ? layout()->nbytes : static_cast<size_t>(count()) * size_of(dtype());
}

bool Tensor::is_contiguous() const {
  if (layout()) return false;
  int64_t expected = 1;
  for (int dim = ndim() - 1; dim >= 0; --dim) {  // the stride of an extent of 1 is never used
    if (shape()[dim] != 1 && strides()[dim] != expected) return false;
    expected *= shape()[dim];
  }
  return true;
}

template <class T>
T* Tensor::data() const {
  check(dtype() == DTypeOf<T>::value, "tensor", "element type is ", dtype(), ", asked for ",
        DTypeOf<T>::value);
  check(!layout(), "tensor", "memory of shape ", shape(), " has the opaque layout ",
        layout() ? layout()->name : "", "; ask for plain() first");
  return reinterpret_cast<T*>(raw());
}

double Tensor::item() const {
  check(count() == 1, "item", "expected one element, got shape ", shape());
  check(device() == kCpu, "item", "the tensor is on ", device(), "; copy it to the CPU first");
  return visit_dtype(dtype(), [&](auto type) {
    const auto value = *data<decltype(type)>();
    if constexpr (std::is_class_v<decltype(type)>) {
      return static_cast<double>(static_cast<float>(value));
    } else {
      return static_cast<double>(value);
    }
  });
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  check(device() == kCpu, "to_vector", "the tensor is on ", device(), "; copy it to the CPU first");
  const Tensor packed = lockstep::plain(detach()).contiguous();
  const T* values = packed.data<T>();
  return std::vector<T>(values, values + packed.count());
}

Tensor Tensor::strided(const Shape& shape, const Shape& strides, int64_t offset) const {
  check(!layout(), "view", "shape ", this->shape(), " has the opaque layout ", layout() ? layout()->name : "",
        "; ask for plain() first");
  check_extents("view", shape);
  auto view = std::make_shared<Impl>();
  view->storage = storage();
  view->offset = impl().offset + static_cast<size_t>(offset) * size_of(dtype());
  view->shape = shape;
  view->strides = strides;
  view->count = shape.count();
  view->dtype = dtype();
  return Tensor(std::move(view));
}

Tensor Tensor::view(const Shape& wanted) const {
  check(is_contiguous(), "view", "shape ", shape(), " is not contiguous; call contiguous() first");
  Shape result = wanted;
  int open = -1;
  for (int dim = 0; dim < wanted.ndim(); ++dim) {
    if (wanted[dim] != -1) continue;
    check(open < 0, "view", "only one extent may be -1, got ", wanted);
    open = dim;
  }
  if (open >= 0) {
    result[open] = 1;
    const int64_t known = result.count();
    check(known > 0 && count() % known == 0, "view", "shape ", shape(), " cannot be viewed as ", wanted);
    result[open] = count() / known;
  }
  check(result.count() == count(), "view", "shape ", shape(), " has ", count(), " elements, ", wanted,
        " has ", result.count());
  return strided(result, row_major_strides(result), 0);
}

Tensor Tensor::narrow(int dim, int64_t start, int64_t length) const {
  const int64_t extent = shape()[dim];
  check(start >= 0 && length >= 0 && length <= extent - start, "narrow", length, " from ", start,
        " on are outside dimension ", dim, " of shape ", shape());
  Shape result = shape();
  result[dim] = length;
  return strided(result, strides(), start * strides()[dim]);
}

Tensor Tensor::permute(const std::vector<int>& order) const {
  check(static_cast<int>(order.size()) == ndim(), "permute", "expected ", ndim(), " dimensions for shape ",
        shape(), ", got ", order.size());
  Shape result;
  Shape result_strides;
  std::vector<bool> seen(order.size(), false);
  for (const int dim : order) {
    check(dim >= 0 && dim < ndim() && !seen[static_cast<size_t>(dim)], "permute",
          "the order is not a permutation of ", ndim(), " dimensions: dimension ", dim);
    seen[static_cast<size_t>(dim)] = true;
    result.push_back(shape()[dim]);
    result_strides.push_back(strides()[dim]);
  }
  return strided(result, result_strides, 0);
}

Tensor Tensor::expand(const Shape& wanted) const {
  const int added = wanted.ndim() - ndim();
  check(added >= 0, "expand", "shape ", shape(), " cannot be broadcast to ", wanted);
  Shape result_strides = row_major_strides(wanted);
  for (int dim = 0; dim < wanted.ndim(); ++dim) {
    const int64_t extent = dim < added ? 1 : shape()[dim - added];
    check(extent == 1 || extent == wanted[dim], "expand", "shape ", shape(), " cannot be broadcast to ",
          wanted);
    result_strides[dim] = extent == 1 ? 0 : strides()[dim - added];
  }
  return strided(wanted, result_strides, 0);
}

Tensor Tensor::detach() const {
  auto copy = std::make_shared<Impl>(impl());
  copy->node = nullptr;
  copy->leaf = nullptr;
  return Tensor(std::move(copy));
}

bool Tensor::same_memory(const Tensor& other) const {
  return storage() == other.storage() && raw() == other.raw() && shape() == other.shape() &&
         strides() == other.strides() && layout() == other.layout();
}

bool Tensor::requires_grad() const {
  return impl().node != nullptr || impl().leaf != nullptr;
}

void Tensor::set_requires_grad(bool requires_grad) {
  check(is_leaf(), "set_requires_grad",
        "only a leaf can change it; this tensor is the result of an operation");
  check(dtype() == DType::kF32, "set_requires_grad", "gradients are kept for f32 tensors, got ", dtype());
  if (!requires_grad) {
    impl().leaf = nullptr;
  } else if (!impl().leaf) {
    impl().leaf = std::make_shared<LeafGradient>();
  }
}

const std::shared_ptr<Node>& Tensor::node() const {
  return impl().node;
}
void Tensor::set_node(std::shared_ptr<Node> node) {
  impl().node = std::move(node);
}
std::shared_ptr<LeafGradient> Tensor::shared_leaf_gradient() const {
  return impl().leaf;
}

LeafGradient& Tensor::leaf_gradient() const {
  check(impl().leaf != nullptr, "leaf_gradient", "shape ", shape(),
        " is not a leaf that requires a gradient");
  return *impl().leaf;
}

Tensor Tensor::grad() const {
  return impl().leaf && impl().leaf->written() ? impl().leaf->view() : Tensor();
}

template Tensor Tensor::from(const std::vector<float>&, const Shape&);
template Tensor Tensor::from(const std::vector<Half>&, const Shape&);
template Tensor Tensor::from(const std::vector<BFloat16>&, const Shape&);
template Tensor Tensor::from(const std::vector<double>&, const Shape&);
template Tensor Tensor::from(const std::vector<int64_t>&, const Shape&);
template Tensor Tensor::from(const std::vector<int32_t>&, const Shape&);
template Tensor Tensor::from(const std::vector<uint8_t>&, const Shape&);
template float* Tensor::data() const;
template Half* Tensor::data() const;
template BFloat16* Tensor::data() const;
template double* Tensor::data() const;
template int64_t* Tensor::data() const;
template int32_t* Tensor::data() const;
template uint8_t* Tensor::data() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<Half> Tensor::to_vector() const;
template std::vector<BFloat16> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int32_t> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;

}  // namespace lockstep

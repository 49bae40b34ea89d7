#include "ops/operands.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "ops/cast/cast.h"
#include "ops/precision.h"
#include "runtime/autograd.h"

namespace lockstep::ops {

void check_f32(const char* operation, const Tensor& x) {
  check(x.defined(), operation, "an operand is undefined");
  check(x.dtype() == DType::kF32, operation, "expected f32, got ", x.dtype(), " of shape ", x.shape(),
        "; cast() it first");
}

void check_float(const char* operation, const Tensor& x) {
  const bool bf16 = x.defined() && x.dtype() == DType::kBF16 && x.device().kind == DeviceKind::kCpu;
  if (bf16 && bf16_rule(operation) != Bf16Rule::kRefused) return;
  check_f32(operation, x);
}

Tensor in_f32(const char* operation, const Tensor& x) {
  check_float(operation, x);
  return cast(x, DType::kF32);
}

void check_cpu(const char* operation, const Tensor& x) {
  check<DeviceError>(x.device().kind == DeviceKind::kCpu, operation,
                     "has no CUDA kernel: expected a tensor on the CPU, got shape ", x.shape(), " on ",
                     x.device());
}

void check_logits_and_targets(const char* operation, const Tensor& logits, const Tensor& targets) {
  check_float(operation, logits);
  check_cpu(operation, logits);
  check(targets.defined() && targets.dtype() == DType::kI64, operation, "expected i64 targets");
  check_cpu(operation, targets);
  check(logits.ndim() == 2 && logits.dim(1) > 0 && targets.ndim() == 1 && logits.dim(0) == targets.dim(0),
        operation, "expected logits [n, classes] and targets [n], got ", logits.shape(), " and ",
        targets.shape());
}

int64_t count_valid_targets(const char* operation, const Tensor& targets, int64_t classes,
                            int64_t ignore_index) {
  const int64_t* values = targets.data<int64_t>();
  int64_t valid = 0;
  for (int64_t row = 0; row < targets.count(); ++row) {
    if (values[row] == ignore_index) continue;
    check(values[row] >= 0 && values[row] < classes, operation, "target of row ", row, " is ", values[row],
          ": expected one in [0, ", classes, ") or ignore_index ", ignore_index);
    ++valid;
  }
  return valid;
}

Tensor check_indices(const char* operation, const Tensor& index, int64_t extent) {
  check(index.defined() && index.dtype() == DType::kI64, operation, "expected i64 indices, got ",
        index.defined() ? to_text(index.dtype(), " of shape ", index.shape()) : "none");
  check_cpu(operation, index);
  const Tensor plain_index = plain_contiguous(index);
  const int64_t* values = plain_index.data<int64_t>();
  const int64_t count = plain_index.count();
  const auto is_outside = [extent](int64_t value) { return value < 0 || value >= extent; };
  const int64_t first = std::find_if(values, values + count, is_outside) - values;
  check(first == count, operation, "index ", first, " of shape ", index.shape(), " is ",
        first < count ? values[first] : 0, ": expected one in [0, ", extent, ")");
  return plain_index;
}

int check_dim(const char* operation, int dim, const Shape& shape) {
  check(dim >= -shape.ndim() && dim < shape.ndim(), operation, "dimension ", dim, " is outside shape ",
        shape);
  return dim < 0 ? dim + shape.ndim() : dim;
}

int64_t count_between(const Shape& shape, int first, int last) {
  return std::accumulate(shape.begin() + first, shape.begin() + last, int64_t{1}, std::multiplies<>());
}

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  if (!a.layout() || !b.layout()) return a.is_contiguous() && b.is_contiguous();
  return a.layout()->name == b.layout()->name && a.layout()->nbytes == b.layout()->nbytes;
}

Tensor dense(const Tensor& x) {
  return x.layout() ? x : x.contiguous();
}

Tensor plain_contiguous(const Tensor& x) {
  return plain(x.detach()).contiguous();
}

Tensor empty_like(const Tensor& x) {
  return x.layout() ? Tensor::opaque(x.shape(), x.dtype(), x.layout(), x.device())
                    : Tensor::empty(x.shape(), x.dtype(), x.device());
}

int64_t stored_count(const Tensor& x) {
  return static_cast<int64_t>(x.nbytes() / size_of(x.dtype()));
}

}  // namespace lockstep::ops

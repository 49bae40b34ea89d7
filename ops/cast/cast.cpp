#include "ops/cast/cast.h"

#include "ops/cast/cast_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

bool is_floating_point(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF64;
}

}  // namespace

Tensor cast(const Tensor& x, DType dtype) {
  const profile::Span span("cast");
  check(x.defined(), "cast", "the operand is undefined");
  if (x.dtype() == dtype) return x;
  check_cpu("cast", x);
  const Tensor input = plain_contiguous(x);
  Tensor result = Tensor::empty(x.shape(), dtype);
  cpu::cast(input.raw(), x.dtype(), result.raw(), dtype, x.count());
  if (!is_floating_point(dtype)) return result;
  return record("cast", result, {x},
                [from = x.dtype()](BackwardContext& context) { context.add(0, cast(context.grad(), from)); });
}

}  // namespace lockstep::ops

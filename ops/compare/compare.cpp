#include "ops/compare/compare.h"

#include "ops/compare/compare_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

using cpu::Comparison;

Tensor compare(const char* operation, Comparison comparison, const Tensor& a, const Tensor& b) {
  const profile::Span span(operation);
  check(a.defined() && b.defined(), operation, "an operand is undefined");
  check_cpu(operation, a);
  check_cpu(operation, b);
  check(a.dtype() == b.dtype(), operation, "expected operands of one element type, got ", a.dtype(), " ",
        a.shape(), " and ", b.dtype(), " ", b.shape());
  const Shape shape = broadcast_shapes(operation, a.shape(), b.shape());
  const Tensor plain_a = plain(a.detach());
  const Tensor plain_b = plain(b.detach());
  Tensor result = Tensor::empty(shape, DType::kU8);
  cpu::compare(comparison, a.dtype(), plan_broadcast(shape, plain_a, plain_b), plain_a.raw(), plain_b.raw(),
               result.data<uint8_t>());
  return result;
}

}  // namespace

Tensor eq(const Tensor& a, const Tensor& b) {
  return compare("eq", Comparison::kEq, a, b);
}
Tensor ne(const Tensor& a, const Tensor& b) {
  return compare("ne", Comparison::kNe, a, b);
}
Tensor lt(const Tensor& a, const Tensor& b) {
  return compare("lt", Comparison::kLt, a, b);
}
Tensor le(const Tensor& a, const Tensor& b) {
  return compare("le", Comparison::kLe, a, b);
}
Tensor gt(const Tensor& a, const Tensor& b) {
  return compare("gt", Comparison::kGt, a, b);
}
Tensor ge(const Tensor& a, const Tensor& b) {
  return compare("ge", Comparison::kGe, a, b);
}

}  // namespace lockstep::ops

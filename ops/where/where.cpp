#include "ops/where/where.h"

#include "ops/operands.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/where/where_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// `x` repeated to `shape`, contiguous, outside the graph.
Tensor spread(const Tensor& x, const Shape& shape) {
  return contiguous(plain(x.detach()).expand(shape));
}

/// The part of `g` that came from the operand which was taken where the condition is `chosen`.
Tensor part_of_gradient(const Tensor& condition, bool chosen, const Tensor& g) {
  const Tensor from = plain_contiguous(g);
  Tensor result = Tensor::empty(from.shape(), from.dtype());
  cpu::keep_where(condition.data<uint8_t>(), chosen, from.raw(), from.count(), size_of(from.dtype()),
                  result.raw());
  return result;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const profile::Span span("where");
  for (const Tensor* operand : {&condition, &a, &b}) {
    check(operand->defined(), "where", "an operand is undefined");
    check_cpu("where", *operand);
  }
  check(condition.dtype() == DType::kU8 && a.dtype() == b.dtype(), "where",
        "expected a u8 condition and two operands of one element type, got ", condition.dtype(), ", ",
        a.dtype(), " and ", b.dtype());
  const Shape shape =
      broadcast_shapes("where", condition.shape(), broadcast_shapes("where", a.shape(), b.shape()));
  const Tensor choice = spread(condition, shape);
  const Tensor if_set = spread(a, shape);
  const Tensor if_not = spread(b, shape);
  Tensor result = Tensor::empty(shape, a.dtype());
  cpu::where(choice.data<uint8_t>(), if_set.raw(), if_not.raw(), result.count(), size_of(a.dtype()),
             result.raw());
  return record("where", result, {a, b},
                [saved = SavedTensor(choice, "where"), a_shape = a.shape(),
                 b_shape = b.shape()](BackwardContext& context) {
                  const Tensor& g = context.grad();
                  if (context.needs(0))
                    context.add(0, sum_to(part_of_gradient(saved.get(), true, g), a_shape, context.dtype(0)));
                  if (context.needs(1))
                    context.add(1,
                                sum_to(part_of_gradient(saved.get(), false, g), b_shape, context.dtype(1)));
                });
}

}  // namespace lockstep::ops

#include "ops/where/where.h"

#include "ops/operands.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/where/where_kernels.h"
#include "runtime/autograd.h"

namespace lockstep::ops {
namespace {

/// `x` repeated to `shape`, contiguous, outside the graph.
Tensor spread(const Tensor& x, const Shape& shape) {
  return contiguous(plain(x.detach()).expand(shape));
}

Tensor choose(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape& shape = condition.shape();
  const Tensor if_set = spread(a, shape);
  const Tensor if_not = spread(b, shape);
  Tensor result = Tensor::empty(shape, a.dtype());
  cpu::where(condition.data<uint8_t>(), if_set.raw(), if_not.raw(), result.count(), size_of(a.dtype()),
             result.raw());
  return result;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
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
  return record("where", choose(choice, a, b), {a, b},
                [saved = SavedTensor(choice, "where"), a_shape = a.shape(),
                 b_shape = b.shape()](BackwardContext& context) {
                  const Tensor& g = context.grad();
                  const Tensor zero = Tensor::zeros({}, g.dtype());
                  if (context.needs(0)) context.add(0, sum_to(choose(saved.get(), g, zero), a_shape));
                  if (context.needs(1)) context.add(1, sum_to(choose(saved.get(), zero, g), b_shape));
                });
}

}  // namespace lockstep::ops

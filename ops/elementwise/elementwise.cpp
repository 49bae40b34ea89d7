#include "ops/elementwise/elementwise.h"

#include "ops/cast/cast.h"
#include "ops/elementwise/unary.h"
#include "ops/reduce/reduce.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

template <class Functor>
void run_binary(const Functor& functor, const BroadcastPlan& plan, const Tensor& a, const Tensor& b,
                Tensor& result) {
  on_device(
      a.device(),
      [&] { cpu::Binary<Functor>::value(functor, a.dtype(), plan, a.raw(), b.raw(), result.raw()); },
      [&](auto) {
        cuda::Binary<Functor>::value(functor, plan, a.data<float>(), b.data<float>(), result.data<float>());
      });
}

/// value(a, b) under broadcasting, outside the graph.
template <class Functor>
Tensor binary(const Functor& functor, const Tensor& left, const Tensor& right) {
  check_float(Functor::kName, left);
  check_float(Functor::kName, right);
  const DType dtype = left.dtype() == right.dtype() ? left.dtype() : DType::kBF16;
  const Tensor a = cast(left.detach(), dtype);
  const Tensor b = cast(right.detach(), dtype);
  check(a.device() == b.device(), Functor::kName, "operands on two devices: ", a.shape(), " on ", a.device(),
        ", ", b.shape(), " on ", b.device());
  const Shape shape = broadcast_shapes(Functor::kName, a.shape(), b.shape());
  if (a.layout() && same_layout(a, b) && functor.value(0, 0) == 0) {  // the padding stays zero
    Tensor result = empty_like(a);
    run_binary(functor, plan_contiguous(stored_count(a)), a, b, result);
    return result;
  }
  const Tensor plain_a = plain(a.detach());
  const Tensor plain_b = plain(b.detach());
  Tensor result = Tensor::empty(shape, dtype, a.device());
  run_binary(functor, plan_broadcast(shape, plain_a, plain_b), plain_a, plain_b, result);
  return result;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  const profile::Span span(Add::kName);
  return record(Add::kName, binary(Add{}, a, b), {a, b},
                [a_shape = a.shape(), b_shape = b.shape()](BackwardContext& context) {
                  if (context.needs(0)) context.add(0, sum_to(context.grad(), a_shape, context.dtype(0)));
                  if (context.needs(1)) context.add(1, sum_to(context.grad(), b_shape, context.dtype(1)));
                });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  const profile::Span span(Sub::kName);
  return record(Sub::kName, binary(Sub{}, a, b), {a, b},
                [a_shape = a.shape(), b_shape = b.shape()](BackwardContext& context) {
                  if (context.needs(0)) context.add(0, sum_to(context.grad(), a_shape, context.dtype(0)));
                  if (context.needs(1))
                    context.add(1, neg(sum_to(context.grad(), b_shape, context.dtype(1))));
                });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const profile::Span span(Mul::kName);
  // Each operand is kept only for the gradient of the other.
  std::optional<SavedTensor> saved_a;
  std::optional<SavedTensor> saved_b;
  if (b.requires_grad()) saved_a.emplace(a, Mul::kName);
  if (a.requires_grad()) saved_b.emplace(b, Mul::kName);
  return record(Mul::kName, binary(Mul{}, a, b), {a, b},
                [saved_a, saved_b, a_shape = a.shape(), b_shape = b.shape()](BackwardContext& context) {
                  if (context.needs(0))
                    context.add(0, sum_to(mul(context.grad(), saved_b->get()), a_shape, context.dtype(0)));
                  if (context.needs(1))
                    context.add(1, sum_to(mul(context.grad(), saved_a->get()), b_shape, context.dtype(1)));
                });
}

Tensor div(const Tensor& a, const Tensor& b) {
  const profile::Span span(Div::kName);
  const Tensor quotient = binary(Div{}, a, b);
  return record(Div::kName, quotient, {a, b},
                [saved_b = SavedTensor(b, Div::kName), saved_quotient = SavedTensor(quotient, Div::kName),
                 a_shape = a.shape(), b_shape = b.shape()](BackwardContext& context) {
                  const Tensor g_over_b = div(context.grad(), saved_b.get());
                  if (context.needs(0)) context.add(0, sum_to(g_over_b, a_shape, context.dtype(0)));
                  if (context.needs(1))
                    context.add(1,
                                neg(sum_to(mul(g_over_b, saved_quotient.get()), b_shape, context.dtype(1))));
                });
}

Tensor scale(const Tensor& x, double factor) {
  return unary(Scale{static_cast<float>(factor)}, x);
}
Tensor add_scalar(const Tensor& x, double addend) {
  return unary(AddScalar{static_cast<float>(addend)}, x);
}
Tensor neg(const Tensor& x) {
  return unary(Neg{}, x);
}
Tensor exp(const Tensor& x) {
  return unary(Exp{}, x);
}
Tensor log(const Tensor& x) {
  return unary(Log{}, x);
}
Tensor sqrt(const Tensor& x) {
  return unary(Sqrt{}, x);
}
Tensor square(const Tensor& x) {
  return unary(Square{}, x);
}
Tensor abs(const Tensor& x) {
  return unary(Abs{}, x);
}
Tensor clamp(const Tensor& x, double low, double high) {
  check(low <= high, Clamp::kName, "expected low <= high, got ", low, " and ", high);
  return unary(Clamp{static_cast<float>(low), static_cast<float>(high)}, x);
}
Tensor tanh(const Tensor& x) {
  return unary(Tanh{}, x);
}
Tensor sigmoid(const Tensor& x) {
  return unary(Sigmoid{}, x);
}
Tensor silu(const Tensor& x) {
  return unary(Silu{}, x);
}
Tensor gelu(const Tensor& x) {
  return unary(Gelu{}, x);
}
Tensor gelu_tanh(const Tensor& x) {
  return unary(GeluTanh{}, x);
}

}  // namespace lockstep::ops

// The front end that all unary element-wise operations share.
#pragma once

#include <optional>

#include "ops/elementwise/elementwise_kernels.h"
#include "ops/elementwise/functors.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {

/// The gradient of the operand from `g`, the gradient of the result, and what the functor saves. Stays in an
/// opaque layout that both share where the padding, which is zero, stays zero.
template <class Functor>
Tensor unary_gradient(const Functor& functor, const Tensor& g, const Tensor& saved) {
  const bool as_it_is = same_layout(g, saved) && (!g.layout() || functor.gradient(0, 0) == 0);
  const Tensor from = as_it_is ? g : plain_contiguous(g);
  const Tensor kept = as_it_is ? saved : plain_contiguous(saved);
  Tensor result = empty_like(from);
  const int64_t count = stored_count(from);
  on_device(
      g.device(),
      [&] { cpu::Unary<Functor>::gradient(functor, g.dtype(), from.raw(), kept.raw(), result.raw(), count); },
      [&](auto) {
        cuda::Unary<Functor>::gradient(functor, from.data<float>(), kept.data<float>(), result.data<float>(),
                                       count);
      });
  return result;
}

/// f32 or bf16. An opaque layout is kept where the padding, which is zero, stays zero; else the result is
/// plain.
template <class Functor>
Tensor unary(const Functor& functor, const Tensor& x) {
  const profile::Span span(Functor::kName);
  check_float(Functor::kName, x);
  const Tensor input = x.layout() && functor.value(0) != 0 ? plain_contiguous(x) : dense(x);
  Tensor result = empty_like(input);
  const int64_t count = stored_count(input);
  on_device(
      x.device(), [&] { cpu::Unary<Functor>::value(functor, x.dtype(), input.raw(), result.raw(), count); },
      [&](auto) { cuda::Unary<Functor>::value(functor, input.data<float>(), result.data<float>(), count); });

  std::optional<SavedTensor> saved;
  if constexpr (Functor::kSaves == Saves::kInput) saved.emplace(input, Functor::kName);
  if constexpr (Functor::kSaves == Saves::kOutput) saved.emplace(result, Functor::kName);
  return record(Functor::kName, result, {x}, [functor, saved](BackwardContext& context) {
    const Tensor& g = context.grad();
    context.add(0, unary_gradient(functor, g, saved ? saved->get() : g));
  });
}

}  // namespace lockstep::ops

// Element-wise arithmetic on f32 or bf16 tensors, differentiable; of other types InvalidArgument: cast()
// first. bf16 is computed in f32 and the result rounded. An opaque layout is kept where that is right (one
// operand, or two of the same layout); else the result is plain.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

// Two operands on one device, under NumPy's broadcasting rules; shapes that do not fit give InvalidArgument
// naming both. The gradient of a broadcast operand is summed over what it was repeated along. Of an f32 and a
// bf16 operand, a parameter and an activation, the first is rounded to bf16, as in a product; its gradient is
// f32.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

// A scalar operand is rounded to f32.
Tensor scale(const Tensor& x, double factor);
Tensor add_scalar(const Tensor& x, double addend);

Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor square(const Tensor& x);
Tensor abs(const Tensor& x);  ///< gradient 0 at 0
/// The nearest number in [low, high], which are rounded to f32; InvalidArgument unless low <= high. Gradient
/// 0 outside.
Tensor clamp(const Tensor& x, double low, double high);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor silu(const Tensor& x);  ///< x sigmoid(x)
Tensor gelu(const Tensor& x);  ///< x P(N < x) for a standard normal N; within a few units of f32's precision
Tensor gelu_tanh(const Tensor& x);  ///< GELU's approximation by tanh: "gelu_new" of GPT-2, "tanh" of PyTorch

}  // namespace lockstep::ops

// Fully connected layer.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// x [n, in], weight [out, in], bias [out] or undefined; returns x weight^T + bias, [n, out], plain. f32.
/// Gradients of weight and bias are written straight to their destination. Throws InvalidArgument naming both
/// shapes when they do not match, and for an empty batch.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace lockstep::ops

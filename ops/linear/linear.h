// Fully connected layer.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

struct LinearOptions {
  /// The weight is [in, out], as in GPT-2's files, not [out, in]; costs nothing.
  bool input_major = false;
};

/// x [.., in] of two or more dimensions, weight [out, in], bias [out] or undefined; returns x weight^T +
/// bias,
/// [.., out], plain. x is f32 or bf16, weight and bias f32. Gradients of weight and bias are written straight
/// to their destination. Throws InvalidArgument naming both shapes when they do not match, and for an empty
/// batch.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const LinearOptions& options = {});

}  // namespace lockstep::ops

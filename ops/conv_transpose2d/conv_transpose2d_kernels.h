// What a transposed convolution has beyond the passes of the convolution (ops/conv2d/conv2d_kernels.h).
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Adds bias[o] to y[n, o, ...], in place. Operands are checked, y is dense.
void add_channel_bias_cpu(const Tensor& y, const Tensor& bias);

}  // namespace lockstep::ops

// What a transposed convolution has beyond the passes of the convolution (ops/conv2d/conv2d_kernels.h).
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// y[n, o, ...] + bias[o], in the layout of y. Operands are checked, y is dense.
Tensor add_channel_bias_cpu(const Tensor& y, const Tensor& bias);

}  // namespace lockstep::ops

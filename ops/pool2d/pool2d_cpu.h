// The oneDNN side of max and average pooling. Results keep the layout of the input.
#pragma once

#include "ops/cpu/onednn.h"
#include "ops/pool2d/pool2d.h"

namespace lockstep::ops::onednn {

struct Pooling {
  const char* operation;
  dnnl::algorithm algorithm;
  Pool2dOptions options;  ///< stride resolved
};

struct PoolingForward {
  Tensor output;
  Tensor workspace;  ///< where each maximum was; undefined for averages
};
PoolingForward pool_forward(const Pooling& pooling, const Tensor& x, const Shape& output_shape);

/// Fills `input_grad`, which lies as the input did.
void pool_backward(const Pooling& pooling, const Tensor& grad, const Tensor& workspace,
                   const Tensor& input_grad);

}  // namespace lockstep::ops::onednn

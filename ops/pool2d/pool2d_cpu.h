// The oneDNN side of pooling. Results keep the layout of the input.
#pragma once

#include "ops/cpu/onednn.h"
#include "ops/pool2d/pool2d.h"

namespace lockstep::ops::onednn {

/// Numbers are for rows, then columns.
struct Pooling {
  const char* operation;
  dnnl::algorithm algorithm;
  dnnl::memory::dims kernel;
  dnnl::memory::dims stride;
  dnnl::memory::dims padding;
};

/// `options` with their stride resolved.
Pooling square_pooling(const char* operation, dnnl::algorithm algorithm, const Pool2dOptions& options);

struct PoolingForward {
  Tensor output;
  Tensor workspace;  ///< where each maximum was; undefined for averages
};
PoolingForward pool_forward(const Pooling& pooling, const Tensor& x, const Shape& output_shape);

/// Fills `input_grad`, which lies as the input did.
void pool_backward(const Pooling& pooling, const Tensor& grad, const Tensor& workspace,
                   const Tensor& input_grad);

}  // namespace lockstep::ops::onednn

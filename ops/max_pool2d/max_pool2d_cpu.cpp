#include "ops/max_pool2d/max_pool2d_kernels.h"
#include "ops/pool2d/pool2d_cpu.h"

namespace lockstep::ops {
namespace {

onednn::Pooling maximum(const Pool2dOptions& options) {
  return onednn::square_pooling("max_pool2d", dnnl::algorithm::pooling_max, options);
}

}  // namespace

MaxPool2dForward max_pool2d_forward_cpu(const Tensor& x, const Shape& output_shape,
                                        const Pool2dOptions& options) {
  const onednn::PoolingForward forward = onednn::pool_forward(maximum(options), x, output_shape);
  return {forward.output, forward.workspace};
}

void max_pool2d_backward_cpu(const Tensor& grad, const Tensor& places, const Pool2dOptions& options,
                             const Tensor& x_grad) {
  onednn::pool_backward(maximum(options), grad, places, x_grad);
}

}  // namespace lockstep::ops

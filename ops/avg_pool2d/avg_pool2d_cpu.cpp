#include "ops/avg_pool2d/avg_pool2d_kernels.h"
#include "ops/pool2d/pool2d_cpu.h"

namespace lockstep::ops {
namespace {

onednn::Pooling average(const Pool2dOptions& window, Divisor divisor) {
  return onednn::square_pooling("avg_pool2d",
                                divisor == Divisor::kWindow ? dnnl::algorithm::pooling_avg_include_padding
                                                            : dnnl::algorithm::pooling_avg_exclude_padding,
                                window);
}

}  // namespace

Tensor avg_pool2d_forward_cpu(const Tensor& x, const Shape& output_shape, const Pool2dOptions& window,
                              Divisor divisor) {
  return onednn::pool_forward(average(window, divisor), x, output_shape).output;
}

void avg_pool2d_backward_cpu(const Tensor& grad, const Pool2dOptions& window, Divisor divisor,
                             const Tensor& x_grad) {
  onednn::pool_backward(average(window, divisor), grad, Tensor(), x_grad);
}

}  // namespace lockstep::ops

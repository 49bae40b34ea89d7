#include "ops/batch_norm/batch_norm_kernels.h"
#include "ops/conv_transpose2d/conv_transpose2d_kernels.h"

namespace lockstep::ops {

// As a batch norm by mean 0 and variance 1, which is exact. oneDNN 2.6 has no other fast way in a blocked
// layout: its convolutions' passes over the data take no bias, and its binary primitive, which would
// broadcast it, falls back to a reference that takes ten times as long as the convolution.
void add_channel_bias_cpu(const Tensor& y, const Tensor& bias) {
  const Tensor zeros = Tensor::zeros(bias.shape());
  const Tensor ones = Tensor::full(bias.shape(), 1);
  batch_norm_forward_cpu({y, ones, bias, zeros, ones}, {}, {BatchStatistics::kGiven, {.epsilon = 0}}, y);
}

}  // namespace lockstep::ops

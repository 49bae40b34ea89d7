// The three passes of a convolution. Operands are checked; results lie in the layout that the library likes
// best, which is why the passes allocate them.
#pragma once

#include "ops/conv2d/conv2d.h"

namespace lockstep::ops {

struct Conv2dForward {
  Tensor output;
  Tensor input;  ///< x in the layout that was read: to be kept for backward, so that it is reordered once
};
Conv2dForward conv2d_forward_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Shape& output_shape, const Conv2dOptions& options);

Tensor conv2d_backward_data_cpu(const Tensor& grad, const Tensor& weight, const Shape& input_shape,
                                const Conv2dOptions& options);

/// Fills `weight_grad` and, if it is defined, `bias_grad`; both plain.
void conv2d_backward_weight_cpu(const Tensor& x, const Tensor& grad, const Tensor& weight_grad,
                                const Tensor& bias_grad, const Conv2dOptions& options);

}  // namespace lockstep::ops

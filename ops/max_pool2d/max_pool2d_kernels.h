// Both passes of max pooling. Operands are checked, options resolved.
#pragma once

#include "ops/max_pool2d/max_pool2d.h"

namespace lockstep::ops {

struct MaxPool2dForward {
  Tensor output;  ///< in the layout of x
  Tensor places;  ///< where the maxima were, for backward only
};
MaxPool2dForward max_pool2d_forward_cpu(const Tensor& x, const Shape& output_shape,
                                        const Pool2dOptions& options);

/// Fills `x_grad`, which lies as x did.
void max_pool2d_backward_cpu(const Tensor& grad, const Tensor& places, const Pool2dOptions& options,
                             const Tensor& x_grad);

}  // namespace lockstep::ops

// Both passes of average pooling. Operands are checked, options resolved.
#pragma once

#include "ops/avg_pool2d/avg_pool2d.h"

namespace lockstep::ops {

enum class Divisor { kWindow, kInside };

/// The result, in the layout of x.
Tensor avg_pool2d_forward_cpu(const Tensor& x, const Shape& output_shape, const Pool2dOptions& window,
                              Divisor divisor);

/// Fills `x_grad`, which lies as x did.
void avg_pool2d_backward_cpu(const Tensor& grad, const Pool2dOptions& window, Divisor divisor,
                             const Tensor& x_grad);

}  // namespace lockstep::ops

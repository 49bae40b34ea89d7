// Both passes of adaptive average pooling. Operands are checked.
#pragma once

#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d.h"
#include "ops/pool2d/pool2d.h"

namespace lockstep::ops {

Tensor adaptive_avg_pool2d_forward_cpu(const Tensor& x, const ImageSize& size);

Tensor adaptive_avg_pool2d_backward_cpu(const Tensor& grad, const InputFormat& input);

}  // namespace lockstep::ops

// Rectified linear unit.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// max(x, 0), f32 or bf16, in the layout of `x`; NaN stays NaN. The gradient passes where the result is
/// positive, 0 at 0.
Tensor relu(const Tensor& x);

}  // namespace lockstep::ops

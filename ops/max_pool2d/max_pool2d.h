// Maximum over sliding windows.
#pragma once

#include "ops/pool2d/pool2d.h"

namespace lockstep::ops {

/// x [n, c, h, w]: the maximum of each window, [n, c, h', w'] (see check_pool2d). Padding never wins; of
/// equal values the first in row-major order does, and gets the gradient. f32 or bf16; the result keeps the
/// layout of x. Throws InvalidArgument naming the shape when the window does not fit, and for an empty batch.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options = {});

}  // namespace lockstep::ops

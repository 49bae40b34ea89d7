// Conversion between element types.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// The values of `x` as `dtype`, plain and contiguous; `x` itself when it has that type already. To a
/// floating-point type: rounded to nearest even, to f16 and bf16 by way of f32. To an integer type: rounded
/// towards zero, beyond its range to its nearest end, NaN to 0. Differentiable from and to floating-point
/// types: the gradient is converted back to the type of `x`.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace lockstep::ops

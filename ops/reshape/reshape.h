// Other shapes for the same elements, differentiable, for every element type. Results share the operand's
// memory where that is possible; an operand in an opaque layout is made plain first.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// As many elements in the same row-major order; one extent may be -1. Copies only when `x` is not
/// contiguous.
Tensor reshape(const Tensor& x, const Shape& shape);

/// Dimensions first_dim and up become one; first_dim 1 keeps the batch apart.
Tensor flatten(const Tensor& x, int first_dim = 1);

/// Dimension i of the result is dimension order[i] of `x`; a view, not contiguous.
Tensor permute(const Tensor& x, const std::vector<int>& order);

/// Two dimensions change places; negative ones count from the end.
Tensor transpose(const Tensor& x, int dim0 = -2, int dim1 = -1);

/// `x` in contiguous plain memory: itself where it is that already.
Tensor contiguous(const Tensor& x);

}  // namespace lockstep::ops

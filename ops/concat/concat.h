// Several tensors in one; differentiable, for every element type. The result is contiguous; operands in an
// opaque layout are made plain first.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// The operands one after another along dimension `dim`, counted from the end when negative. Throws
/// InvalidArgument without operands, and naming two shapes or element types that differ in more than the
/// extent of `dim`.
Tensor concat(const std::vector<Tensor>& parts, int dim = 0);

/// Operands of one shape along a new dimension, which is dimension `dim` of the result.
Tensor stack(const std::vector<Tensor>& parts, int dim = 0);

}  // namespace lockstep::ops

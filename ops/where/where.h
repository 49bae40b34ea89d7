// A choice between two tensors, element by element.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// The element of `a` where `condition` (u8) is not 0, else that of `b`. `a` and `b` have one element type,
/// any; all three broadcast under NumPy's rules. Plain and contiguous. Differentiable in `a` and `b`: the
/// gradient goes to the element that was taken and 0 to the other, whatever that holds; of operands that are
/// repeated it is summed, in f32 only. Throws
/// InvalidArgument naming shapes or types that do not fit.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace lockstep::ops

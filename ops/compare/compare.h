// Comparisons, element by element: u8 tensors of 1 where they hold and 0 where not, for where() and for
// masks. Both operands have one element type, any, and broadcast under NumPy's rules; shapes that do not fit
// give InvalidArgument naming both. Nothing but `ne` holds for NaN. Outside the graph; plain and contiguous.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);

}  // namespace lockstep::ops

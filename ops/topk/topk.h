// Where the greatest elements along a dimension are. f32; NaN counts as the greatest, and of equal elements
// the one with the lower index comes first.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// The index (i64) of the greatest element along dimension `dim` (from the end when negative), which goes.
/// Outside the graph. Throws InvalidArgument naming the shape where there are no elements.
Tensor argmax(const Tensor& x, int dim = -1);

struct TopkResult {
  Tensor values;   ///< differentiable
  Tensor indices;  ///< i64, in the dimension that was searched; outside the graph
};

/// The k greatest elements along dimension `dim`, the greatest first; that dimension has extent k then.
/// Throws InvalidArgument naming k and the shape unless 0 <= k <= extent.
TopkResult topk(const Tensor& x, int64_t k, int dim = -1);

}  // namespace lockstep::ops

// Part of a tensor, and a tensor as part of a larger one; differentiable, for every element type. An operand
// in an opaque layout is made plain first.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// start, start + step, ... below stop. Negative bounds count from the end.
struct SliceRange {
  static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  int64_t start = 0;
  int64_t stop = kEnd;
  int64_t step = 1;  ///< positive
};

/// The elements of `x` whose index in dimension `dim` (from the end when negative) is in the range: a view
/// when the step is 1, else a contiguous copy. Throws InvalidArgument naming range and shape unless 0 <=
/// start <= stop <= extent.
Tensor slice(const Tensor& x, int dim, const SliceRange& range);

/// Elements to add to one dimension; not negative.
struct PadSides {
  int64_t before = 0;
  int64_t after = 0;
};

/// `x` surrounded by `value`, which is converted to its element type; `sides` has an entry for every
/// dimension, outermost first. Contiguous. Throws InvalidArgument naming the shape otherwise.
Tensor pad(const Tensor& x, const std::vector<PadSides>& sides, double value = 0);

}  // namespace lockstep::ops

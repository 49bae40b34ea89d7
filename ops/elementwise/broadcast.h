// How two strided operands are walked together under broadcasting, in as few dimensions as possible.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// At least one dimension, outermost first, no extent of 1 unless it is the only one. Position i of the
/// result, in row-major order, takes the elements at the offsets that the strides (in elements, 0 where an
/// operand repeats) give.
struct BroadcastPlan {
  int ndim = 1;
  int64_t extents[Shape::kMaxDims] = {1};  // plain arrays: device code has no std::array
  int64_t a_strides[Shape::kMaxDims] = {};
  int64_t b_strides[Shape::kMaxDims] = {};

  int64_t inner_extent() const { return extents[ndim - 1]; }
  int64_t outer_count() const;  ///< product of all extents but the innermost
};

/// One pass over two blocks of `count` elements.
BroadcastPlan plan_contiguous(int64_t count);

/// Plain tensors whose shapes broadcast to `result`. Neighbouring dimensions that both operands walk through
/// without a jump become one.
BroadcastPlan plan_broadcast(const Shape& result, const Tensor& a, const Tensor& b);

}  // namespace lockstep::ops

// The arithmetic of reductions.
#pragma once

#include <cstdint>

#include "comm/call.h"

namespace lockstep::comm {

/// target[i] = left[i] op right[i]. `target` may be `left` or `right`; other overlaps are not allowed. Sums
/// of integers wrap around; f16 and bf16 are added in f32 and rounded; a NaN wins in max and min.
void reduce(ReduceOp op, DType dtype, int64_t count, const void* left, const void* right, void* target);

}  // namespace lockstep::comm

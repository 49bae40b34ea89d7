#pragma once

#include <cstdint>

#include "ops/reduce/reduce_kernels.h"

namespace lockstep::ops::cpu {

/// x [outer, reduced, inner]; values and indices [outer, k, inner], contiguous.
void topk(const float* x, int64_t k, const ReduceExtents& extents, float* values, int64_t* indices);

}  // namespace lockstep::ops::cpu

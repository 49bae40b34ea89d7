#pragma once

#include <cstdint>

#include "ops/elementwise/broadcast.h"
#include "runtime/dtype.h"

namespace lockstep::ops::cpu {

enum class Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

/// Along the plan, for operands of `dtype`; `result` is contiguous.
void compare(Comparison comparison, DType dtype, const BroadcastPlan& plan, const void* a, const void* b,
             uint8_t* result);

}  // namespace lockstep::ops::cpu

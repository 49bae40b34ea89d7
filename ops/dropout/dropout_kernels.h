#pragma once

#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/rng.h"

namespace lockstep::ops::cpu {

/// keep[i] = 1 where the upper 24 bits of draw i are at least `threshold`, else 0.
void draw_mask(const RandomStream& stream, uint32_t threshold, uint8_t* keep, int64_t count);

/// y[i] = x[i] * factor where keep[i] is 1, x[i] * 0 where it is 0; both f32 or both bf16.
void apply_mask(DType dtype, const void* x, const uint8_t* keep, float factor, void* y, int64_t count);

}  // namespace lockstep::ops::cpu

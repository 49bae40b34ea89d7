// Conversions between f32 and scaled binary16, in the versions that there are.
#pragma once

#include <cstdint>

namespace lockstep::comm {

/// Loops over up to a block; all versions give the same bits. NaN becomes quiet.
struct HalfLoops {
  void (*narrow)(const float* values, int64_t count, float scale, uint16_t* halves);  ///< Half(value * scale)
  void (*widen)(const uint16_t* halves, int64_t count, float scale, float* values);   ///< float(half) * scale
  /// Both, in place; `inverse` is 1 / scale.
  void (*round)(float* values, int64_t count, float scale, float inverse);
};

/// By plain arithmetic.
const HalfLoops& plain_half_loops();

/// By the instructions that the processor has for it; null if it has none.
const HalfLoops* native_half_loops();

}  // namespace lockstep::comm

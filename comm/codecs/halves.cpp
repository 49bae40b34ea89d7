#include "comm/codecs/halves.h"

#include "runtime/dtype.h"
#include "runtime/wide_vectors.h"

namespace lockstep::comm {
namespace {

void narrow(const float* values, int64_t count, float scale, uint16_t* halves) {
  with_wide_vectors([=] {
    for (int64_t i = 0; i < count; ++i) halves[i] = Half(values[i] * scale).bits;
  });
}

void widen(const uint16_t* halves, int64_t count, float scale, float* values) {
  with_wide_vectors([=] {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(Half::from_bits(halves[i])) * scale;
  });
}

void round(float* values, int64_t count, float scale, float inverse) {
  with_wide_vectors([=] {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(Half(values[i] * scale)) * inverse;
  });
}

}  // namespace

const HalfLoops& plain_half_loops() {
  static constexpr HalfLoops kLoops{narrow, widen, round};
  return kLoops;
}

}  // namespace lockstep::comm

#include "comm/codecs/bf16.h"

#include <algorithm>
#include <bit>

#include "runtime/dtype.h"
#include "runtime/wide_vectors.h"

namespace lockstep::comm::bf16 {

void encode(const float* values, int64_t count, std::byte* wire) {
  with_wide_vectors([=, halves = reinterpret_cast<uint16_t*>(wire)] {
    for (int64_t i = 0; i < count; ++i) halves[i] = BFloat16(values[i]).bits;
    std::fill(halves + count, halves + (count + kBlockCount - 1) / kBlockCount * kBlockCount, uint16_t{0});
  });
}

void decode(const std::byte* wire, int64_t count, float* values) {
  with_wide_vectors([=, halves = reinterpret_cast<const uint16_t*>(wire)] {
    for (int64_t i = 0; i < count; ++i) values[i] = std::bit_cast<float>(uint32_t{halves[i]} << 16);
  });
}

void round(float* values, int64_t count) {
  with_wide_vectors([=] {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(BFloat16(values[i]));
  });
}

}  // namespace lockstep::comm::bf16

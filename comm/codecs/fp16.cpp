#include "comm/codecs/fp16.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "comm/codecs/halves.h"
#include "runtime/wide_vectors.h"

namespace lockstep::comm::fp16 {
namespace {

constexpr int kFloatBias = 127;
constexpr int kFloatFraction = 23;                 // bits
constexpr int kLargestExponent = 15;               // of binary16
constexpr int kDropped = 13;                       // bits of a float's fraction that binary16 has not
constexpr int32_t kRoundsToInfinity = 0x7f7ff000;  // 2^128 - 2^116
/// With it, the spacing of the smallest halves is 2^-125, above all subnormal floats.
constexpr int kLeastExponent = -86;

float power_of_two(int exponent) {
  return std::bit_cast<float>((exponent + kFloatBias) << kFloatFraction);
}

/// Of the largest finite magnitude, rounded to the 11 bits of binary16.
int block_exponent(const float* values, int64_t count) {
  int32_t largest = 0;  // magnitudes have the order of their bits
  with_wide_vectors([=, &largest] {
    int32_t most = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t magnitude = std::bit_cast<int32_t>(values[i]) & 0x7fffffff;
      most = std::max(most, magnitude < kRoundsToInfinity ? magnitude : 0);
    }
    largest = most;
  });
  const int32_t nearest = largest + (1 << (kDropped - 1)) - 1 + (largest >> kDropped & 1);
  return std::max((nearest >> kFloatFraction) - kFloatBias, kLeastExponent);
}

const HalfLoops& loops() {
  static const HalfLoops& chosen = native_half_loops() ? *native_half_loops() : plain_half_loops();
  return chosen;
}

}  // namespace

void encode(const float* values, int64_t count, std::byte* wire) {
  for (int64_t begin = 0; begin < count; begin += kBlockCount, wire += kBlockBytes) {
    const int64_t length = std::min(kBlockCount, count - begin);
    const int exponent = block_exponent(values + begin, length);
    const auto stored = static_cast<int16_t>(exponent);
    std::memcpy(wire, &stored, sizeof(stored));
    auto* halves = reinterpret_cast<uint16_t*>(wire + sizeof(stored));
    loops().narrow(values + begin, length, power_of_two(kLargestExponent - exponent), halves);
    std::fill(halves + length, halves + kBlockCount, uint16_t{0});
  }
}

void decode(const std::byte* wire, int64_t count, float* values) {
  for (int64_t begin = 0; begin < count; begin += kBlockCount, wire += kBlockBytes) {
    int16_t exponent = 0;
    std::memcpy(&exponent, wire, sizeof(exponent));
    const auto* halves = reinterpret_cast<const uint16_t*>(wire + sizeof(exponent));
    loops().widen(halves, std::min(kBlockCount, count - begin), power_of_two(exponent - kLargestExponent),
                  values + begin);
  }
}

void round(float* values, int64_t count) {
  for (int64_t begin = 0; begin < count; begin += kBlockCount) {
    const int64_t length = std::min(kBlockCount, count - begin);
    const int exponent = block_exponent(values + begin, length);
    loops().round(values + begin, length, power_of_two(kLargestExponent - exponent),
                  power_of_two(exponent - kLargestExponent));
  }
}

}  // namespace lockstep::comm::fp16

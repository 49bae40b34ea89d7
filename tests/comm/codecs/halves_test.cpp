#include "comm/codecs/halves.h"

#include <gtest/gtest.h>

#include "runtime/dtype.h"
#include "tests/comm/codecs/codec_reference.h"

namespace lockstep::comm {
namespace {

constexpr float kScales[] = {1.0F, 0x1p-112F, 0x1p101F, 0x1p12F};

/// The versions that this machine can run.
std::vector<const HalfLoops*> versions() {
  std::vector<const HalfLoops*> loops{&plain_half_loops()};
  if (native_half_loops()) loops.push_back(native_half_loops());
  return loops;
}

TEST(HalfLoops, NarrowAsOneHalfIsNarrowed) {
  for (const test::Pattern& pattern : test::codec_patterns()) {
    for (const float scale : kScales) {
      std::vector<uint16_t> expected;
      for (const float value : pattern.values) expected.push_back(Half(value * scale).bits);
      for (const HalfLoops* loops : versions()) {
        std::vector<uint16_t> halves(expected.size());
        loops->narrow(pattern.values.data(), static_cast<int64_t>(halves.size()), scale, halves.data());
        EXPECT_EQ(halves, expected) << pattern.name << " x " << scale;
      }
    }
  }
}

TEST(HalfLoops, WidenEveryHalf) {
  std::vector<uint16_t> halves;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) halves.push_back(static_cast<uint16_t>(bits));
  for (const float scale : kScales) {
    std::vector<float> expected;
    for (const uint16_t bits : halves) expected.push_back(static_cast<float>(Half::from_bits(bits)) * scale);
    for (const HalfLoops* loops : versions()) {
      std::vector<float> values(halves.size());
      loops->widen(halves.data(), static_cast<int64_t>(halves.size()), scale, values.data());
      EXPECT_EQ(test::first_difference(values, expected), "") << scale;
    }
  }
}

TEST(HalfLoops, RoundThereAndBack) {
  for (const test::Pattern& pattern : test::codec_patterns()) {
    for (const HalfLoops* loops : versions()) {
      const auto count = static_cast<int64_t>(pattern.values.size());
      std::vector<uint16_t> halves(pattern.values.size());
      std::vector<float> expected(pattern.values.size());
      loops->narrow(pattern.values.data(), count, 0x1p12F, halves.data());
      loops->widen(halves.data(), count, 0x1p-12F, expected.data());
      std::vector<float> values = pattern.values;
      loops->round(values.data(), count, 0x1p12F, 0x1p-12F);
      EXPECT_EQ(test::first_difference(values, expected), "") << pattern.name;
    }
  }
}

}  // namespace
}  // namespace lockstep::comm

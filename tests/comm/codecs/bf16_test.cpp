#include "comm/codecs/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/comm/codecs/codec_reference.h"

namespace lockstep::comm {
namespace {

std::vector<float> rounded(std::vector<float> values) {
  bf16::round(values.data(), static_cast<int64_t>(values.size()));
  return values;
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(rounded({257.0F, 259.0F, -257.5F}), (std::vector<float>{256.0F, 260.0F, -258.0F}));
}

TEST(Bf16, AValueDoesNotDependOnItsBlock) {
  EXPECT_EQ(rounded({0x1p-100F, 1e30F})[0], 0x1p-100F);
}

TEST(Bf16, LargeNumbersBecomeInfinityOnlyWhereEightBitsEnd) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded({0x1.fep127F, 0x1.fefffep127F}), (std::vector<float>{0x1.fep127F, 0x1.fep127F}));
  EXPECT_EQ(rounded({0x1.ffp127F, -std::numeric_limits<float>::max()}),
            (std::vector<float>{kInfinity, -kInfinity}));
}

TEST(Bf16, KeepsSubnormals) {
  EXPECT_EQ(rounded({0x1p-133F, -0x1.8p-130F}), (std::vector<float>{0x1p-133F, -0x1.8p-130F}));
}

TEST(Bf16, TheErrorStaysWithinItsBound) {
  for (const test::Pattern& pattern : test::codec_patterns()) {
    const std::vector<float> after = rounded(pattern.values);
    for (size_t i = 0; i < after.size(); ++i) {
      const auto value = static_cast<double>(pattern.values[i]);
      if (!std::isfinite(after[i]) || std::abs(value) < 0x1p-126) continue;
      ASSERT_LE(std::abs(after[i] - value), 0x1p-8 * std::abs(value)) << pattern.name << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace lockstep::comm

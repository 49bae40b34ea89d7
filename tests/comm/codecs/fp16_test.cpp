#include "comm/codecs/fp16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/comm/codecs/codec_reference.h"

namespace lockstep::comm {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> rounded(std::vector<float> values) {
  fp16::round(values.data(), static_cast<int64_t>(values.size()));
  return values;
}

int stored_exponent(const std::vector<float>& block) {
  std::byte wire[fp16::kBlockBytes]{};
  fp16::encode(block.data(), static_cast<int64_t>(block.size()), wire);
  int16_t exponent = 0;
  std::memcpy(&exponent, wire, sizeof(exponent));
  return exponent;
}

TEST(Fp16, TheExponentIsThatOfTheLargestFiniteMagnitudeAfterRounding) {
  EXPECT_EQ(stored_exponent({1.0F, -3.9F}), 1);
  EXPECT_EQ(stored_exponent({0x1.ffdp0F}), 0);
  EXPECT_EQ(stored_exponent({0x1.fffp0F}), 1) << "a carry";
  EXPECT_EQ(stored_exponent({1.0F, -kInfinity, NAN}), 0);
  EXPECT_EQ(stored_exponent({kMax, 8.0F}), 3) << "the largest f32 rounds to infinity";
  EXPECT_EQ(stored_exponent({0.0F, -0.0F}), -86);
  EXPECT_EQ(stored_exponent({0x1p-140F}), -86);
  for (const test::Pattern& pattern : test::codec_patterns()) {
    if (pattern.values.empty()) continue;  // no block
    const auto count = std::min(static_cast<int64_t>(pattern.values.size()), fp16::kBlockCount);
    const std::vector<float> block(pattern.values.begin(), pattern.values.begin() + count);
    EXPECT_EQ(stored_exponent(block), test::reference_fp16_exponent(block.data(), count)) << pattern.name;
  }
}

TEST(Fp16, TheErrorStaysWithinItsBound) {
  for (const test::Pattern& pattern : test::codec_patterns()) {
    const std::vector<float> after = rounded(pattern.values);
    for (size_t block = 0; block < after.size(); block += fp16::kBlockCount) {
      const size_t end = std::min<size_t>(block + fp16::kBlockCount, after.size());
      double largest = 0;
      for (size_t i = block; i < end; ++i) {
        if (std::isfinite(after[i])) largest = std::max(largest, std::abs(static_cast<double>(after[i])));
      }
      for (size_t i = block; i < end; ++i) {
        if (!std::isfinite(after[i])) continue;
        const auto value = static_cast<double>(pattern.values[i]);
        const double bound = std::max({0x1p-11 * std::abs(value), 0x1p-40 * largest, 0x1p-126});
        ASSERT_LE(std::abs(after[i] - value), bound) << pattern.name << ", element " << i;
      }
    }
  }
}

TEST(Fp16, TheBoundIsReached) {
  EXPECT_EQ(rounded({1.0F, 0x1p-40F})[1], 0.0F) << "2^-40 of the largest: halfway, to even";
  EXPECT_EQ(rounded({1.0F, 0x1.000002p-40F})[1], 0x1p-39F);
  EXPECT_EQ(rounded({0x1.002p0F})[0], 1.0F) << "2^-11 of it";
}

TEST(Fp16, KeepsLargeAndSmallGradientsOfOneBlock) {
  const std::vector<float> values{20000.0F, 0x1p-22F, -65504.0F, 1e30F * 0};
  EXPECT_EQ(rounded(values), values);
}

TEST(Fp16, LargeNumbersBecomeInfinityOnlyWhereElevenBitsEnd) {
  EXPECT_EQ(rounded({0x1.ffcp127F})[0], 0x1.ffcp127F);
  EXPECT_EQ(rounded({0x1.ffdffep127F})[0], 0x1.ffcp127F);
  EXPECT_EQ(rounded({-0x1.ffep127F})[0], -kInfinity);
  EXPECT_EQ(rounded({kMax, 1.0F}), (std::vector<float>{kInfinity, 1.0F}));
}

TEST(Fp16, BlocksDoNotTouchEachOther) {
  std::vector<float> values(2 * fp16::kBlockCount + 3, 0x1.23456p-60F);
  values[1024] = 1e30F;
  const std::vector<float> after = rounded(values);
  EXPECT_NE(after[1023], 0);
  EXPECT_EQ(after[1025], 0) << "beside 1e30";
  EXPECT_NE(after[2048], 0);
}

}  // namespace
}  // namespace lockstep::comm

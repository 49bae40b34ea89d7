#include "runtime/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "runtime/threads.h"

namespace lockstep {
namespace {

constexpr uint32_t kPatterns = 1 << 16;

/// The value of a binary16 pattern by its definition.
double value_of_half(uint32_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const int mantissa = static_cast<int>(bits & 0x3ff);
  if (exponent == 0x1f) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

bool is_half_nan(uint32_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}

TEST(DType, SizesAndNames) {
  std::ostringstream text;
  size_t total = 0;
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    text << dtype << ':' << size_of(dtype) << ' ';
    visit_dtype(dtype, [&](auto element) {
      EXPECT_EQ(DTypeOf<decltype(element)>::value, dtype);
      total += sizeof(element);
    });
  }
  EXPECT_EQ(text.str(), "f32:4 f16:2 bf16:2 f64:8 i64:8 i32:4 u8:1 ");
  EXPECT_EQ(total, 29U);
}

TEST(Half, AllPatternsWidenExactly) {
  for (uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto value = static_cast<float>(Half::from_bits(static_cast<uint16_t>(bits)));
    if (is_half_nan(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), value_of_half(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
}

// Subnormals too: a thread that computes flushes subnormal floats, which must not reach binary16's.
TEST(Half, AllPatternsSurviveARoundTripOnAComputeThread) {
  std::vector<uint16_t> back(kPatterns);
  start_thread("half", [&] {
    for (uint32_t bits = 0; bits < kPatterns; ++bits) {
      back[bits] = Half(static_cast<float>(Half::from_bits(static_cast<uint16_t>(bits)))).bits;
    }
  }).join();
  for (uint32_t bits = 0; bits < kPatterns; ++bits) {
    const uint32_t expected = is_half_nan(bits) ? bits | 0x200 : bits;  // NaN becomes quiet
    ASSERT_EQ(back[bits], expected) << bits;
  }
}

TEST(Half, RoundsToNearestEvenBetweenAllNeighbours) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double next = bits == 0x7bff ? 65536 : value_of_half(bits + 1);
    const auto middle = static_cast<float>((value_of_half(bits) + next) / 2);
    const auto lower = static_cast<uint16_t>(bits);
    const auto upper = static_cast<uint16_t>(bits + 1);
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? lower : upper) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, 0.0F)).bits, lower) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, 1e6F)).bits, upper) << bits;
    ASSERT_EQ(Half(-middle).bits, Half(middle).bits | 0x8000) << bits;
  }
}

TEST(Half, ExtremesOfFloat) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Half(kInfinity).bits, 0x7c00);
  EXPECT_EQ(Half(-kInfinity).bits, 0xfc00);
  EXPECT_EQ(Half(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(Half(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(Half(-std::numeric_limits<float>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(Half(-0.0F).bits, 0x8000);
  EXPECT_EQ(Half(std::bit_cast<float>(0xffc02000U)).bits, 0xfe01);
  EXPECT_EQ(Half(std::bit_cast<float>(0x7f800001U)).bits, 0x7e00) << "the payload's lower bits are lost";
}

TEST(BFloat16, AllPatternsSurviveARoundTripOnAComputeThread) {
  std::vector<uint16_t> back(kPatterns);
  start_thread("bfloat", [&] {
    for (uint32_t bits = 0; bits < kPatterns; ++bits) {
      BFloat16 value;
      value.bits = static_cast<uint16_t>(bits);
      back[bits] = BFloat16(static_cast<float>(value)).bits;
    }
  }).join();
  for (uint32_t bits = 0; bits < kPatterns; ++bits) {
    const bool nan = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(back[bits], nan ? bits | 0x40 : bits) << bits;
  }
}

TEST(BFloat16, RoundsToNearestEvenBetweenAllNeighbours) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const uint32_t middle = bits << 16 | 0x8000;
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle)).bits, bits + bits % 2) << bits;
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle - 1)).bits, bits) << bits;
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle + 1)).bits, bits + 1) << bits;
    ASSERT_EQ(BFloat16(std::bit_cast<float>(middle | 0x80000000)).bits, 0x8000 | (bits + bits % 2)) << bits;
  }
}

TEST(BFloat16, NanStaysNan) {
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7f800001U)).bits, 0x7fc0) << "only lower bits were set";
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0xffffffffU)).bits, 0xffff) << "rounding must not carry over";
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
}

}  // namespace
}  // namespace lockstep

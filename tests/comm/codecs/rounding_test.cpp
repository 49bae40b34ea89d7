#include "comm/codecs/rounding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "comm/codecs/table.h"
#include "runtime/error.h"
#include "tests/comm/codecs/codec_reference.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/expect_error.h"

namespace lockstep::comm {
namespace {

using test::first_difference;
using test::reference_rounded;

TEST(Round, RoundsABufferOnItsOwnGrid) {
  for (const CodecRow& codec : codecs()) {
    for (const test::Pattern& pattern : test::codec_patterns()) {
      std::vector<float> values = pattern.values;
      round(codec.codec, {values.data(), static_cast<int64_t>(values.size()), DType::kF32});
      EXPECT_EQ(first_difference(values, reference_rounded(codec.codec, pattern.values)), "") << pattern.name;
    }
  }
}

TEST(Round, WithoutACodecDoesNothing) {
  double value = 0.1;
  round(Codec::kNone, {&value, 1, DType::kF64});
  EXPECT_EQ(value, 0.1);
}

TEST(Round, TakesF32Alone) {
  lockstep::test::expect_error<InvalidArgument>(
      [] {
        double value = 0.1;
        round(Codec::kFp16, {&value, 1, DType::kF64});
      },
      "[round] codec fp16: expected f32, got f64");
}

TEST(SumRounded, AddsInF32AndRoundsOnceWhereverTheTargetIs) {
  for (const CodecRow& codec : codecs()) {
    const int64_t count = 2500;
    std::vector<float> left(count);
    std::vector<float> right(count);
    std::vector<float> sums(count);
    for (int64_t i = 0; i < count; ++i) {
      left[i] = test::uneven(1, i);
      right[i] = test::uneven(2, i / 3);
      sums[i] = left[i] + right[i];
    }
    const std::vector<float> expected = reference_rounded(codec.codec, sums);
    std::vector<float> target(count);
    sum_rounded(codec, count, left.data(), right.data(), target.data());
    EXPECT_EQ(first_difference(target, expected), "");
    target = left;
    sum_rounded(codec, count, target.data(), right.data(), target.data());
    EXPECT_EQ(first_difference(target, expected), "");
    target = right;
    sum_rounded(codec, count, left.data(), target.data(), target.data());
    EXPECT_EQ(first_difference(target, expected), "");
  }
}

}  // namespace
}  // namespace lockstep::comm

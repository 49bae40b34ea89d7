#include "ops/cast/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

constexpr DType kAllTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                               DType::kI64, DType::kI32, DType::kU8};
constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

test::OpCase op_case(const Shape& shape, DType dtype) {
  return {.name = to_text("cast to ", dtype),
          .inputs = {test::random_array(shape, 1)},
          .run = [dtype](const std::vector<Tensor>& x) { return cast(x[0], dtype); },
          .reference = [](const std::vector<test::Array>& x) { return x[0]; },
          .value_tolerance = 0x1p-8,  // half a unit in the last place of bf16
          .gradient_tolerance = 0x1p-8};
}

TEST(Cast, ValuesAndGradientsOfFloatingPointTypes) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64}) test::check_op(op_case({3, 5}, dtype));
}

TEST(Cast, SmallIntegersSurviveEveryPairOfTypes) {
  const Tensor start = Tensor::from<uint8_t>({0, 1, 7, 100, 255}, {5});
  for (const DType first : kAllTypes) {
    for (const DType second : kAllTypes) {
      const Tensor there = cast(cast(start, first), second);
      EXPECT_EQ(there.dtype(), second);
      EXPECT_EQ(cast(there, DType::kU8).to_vector<uint8_t>(), start.to_vector<uint8_t>())
          << first << " " << second;
    }
  }
}

TEST(Cast, SameTypeIsTheTensorItself) {
  const Tensor x = Tensor::zeros({3});
  EXPECT_TRUE(cast(x, DType::kF32).same_memory(x));
}

TEST(Cast, RoundsToNearestEven) {
  const Tensor x = Tensor::from<float>({1 + 0x1p-11F, 1 + 3 * 0x1p-11F, 65520, 0x1p-24F, -kInf, kNan}, {6});
  const std::vector<float> half = cast(cast(x, DType::kF16), DType::kF32).to_vector<float>();
  EXPECT_EQ(half[0], 1);
  EXPECT_EQ(half[1], 1 + 0x1p-9F);
  EXPECT_EQ(half[2], kInf);
  EXPECT_EQ(half[3], 0x1p-24F) << "a subnormal of f16";
  EXPECT_EQ(half[4], -kInf);
  EXPECT_TRUE(std::isnan(half[5]));
  const std::vector<float> brain = cast(cast(x, DType::kBF16), DType::kF32).to_vector<float>();
  EXPECT_EQ(brain[0], 1);
  EXPECT_EQ(brain[2], 65536);
  EXPECT_TRUE(std::isnan(brain[5]));
}

TEST(Cast, AllPatternsOfTheShortTypesKeepTheirValue) {
  const auto check_patterns = [](auto zero) {
    using T = decltype(zero);
    std::vector<T> patterns(65536 + 3);  // no whole number of vectors
    for (size_t i = 0; i < patterns.size(); ++i) patterns[i].bits = static_cast<uint16_t>(i);
    const Tensor x = Tensor::from(patterns, {static_cast<int64_t>(patterns.size())});
    const Tensor wide = cast(x, DType::kF32);
    const std::vector<float> values = wide.to_vector<float>();
    const std::vector<T> back = cast(wide, DTypeOf<T>::value).template to_vector<T>();
    for (size_t i = 0; i < patterns.size(); ++i) {
      const auto value = static_cast<float>(patterns[i]);
      ASSERT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(value)) << i;
      ASSERT_EQ(back[i].bits, T(value).bits) << i;
    }
  };
  check_patterns(Half());
  check_patterns(BFloat16());
}

TEST(Cast, IntegersSaturate) {
  const Tensor x = Tensor::from<float>({-1.9F, 1.9F, -5, 300, 3e9F, 1e20F, -1e20F, kNan, kInf}, {9});
  EXPECT_EQ(cast(x, DType::kU8).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 1, 0, 255, 255, 255, 0, 0, 255}));
  constexpr int32_t kMost32 = std::numeric_limits<int32_t>::max();
  constexpr int32_t kLeast32 = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(cast(x, DType::kI32).to_vector<int32_t>(),
            (std::vector<int32_t>{-1, 1, -5, 300, kMost32, kMost32, kLeast32, 0, kMost32}));
  constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(cast(x, DType::kI64).to_vector<int64_t>()[5], kMost64);
  const Tensor longs = Tensor::from<int64_t>({-1, 256, int64_t{1} << 40, kMost64}, {4});
  EXPECT_EQ(cast(longs, DType::kU8).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 255, 255, 255}));
  EXPECT_EQ(cast(longs, DType::kI32).to_vector<int32_t>(), (std::vector<int32_t>{-1, 256, kMost32, kMost32}));
}

TEST(Cast, GradientComesBackInTheOperandsType) {
  Tensor x = Tensor::from<float>({1.5F, -2}, {2});
  x.set_requires_grad(true);
  const Tensor y = cast(cast(x, DType::kBF16), DType::kF64);
  backward(y, {.seed = Tensor::from<double>({3, 4}, {2}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_FALSE(cast(x, DType::kI64).requires_grad());
}

TEST(Cast, StridedEmptyAndOpaqueOperands) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(cast(x.permute({1, 0}), DType::kI32).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(cast(Tensor::zeros({0, 2}), DType::kI64).shape(), (Shape{0, 2}));
  EXPECT_EQ(cast(test::padded_tensor({1, 2}, {2}), DType::kI32).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 2}));
}

TEST(Cast, UndefinedOperandIsRefused) {
  EXPECT_THROW(cast(Tensor(), DType::kF32), InvalidArgument);
}

}  // namespace

test::OpRows cast_rows() {
  return {{.name = "cast", .checked = op_case({3, 5}, DType::kF16), .timed = [] {
             return op_case({1 << 22}, DType::kBF16);
           }}};
}

}  // namespace lockstep::ops

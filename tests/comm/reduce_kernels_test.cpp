#include "comm/reduce_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lockstep::comm {
namespace {

TEST(Reduce, TargetMayBeEitherOperandOrNeither) {
  const std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<float> b{10, 20, 30, 40, 50, 60, 70, 80, 90};
  const std::vector<float> sums{11, 22, 33, 44, 55, 66, 77, 88, 99};
  std::vector<float> left = a;
  reduce(ReduceOp::kSum, DType::kF32, 9, left.data(), b.data(), left.data());
  EXPECT_EQ(left, sums);
  std::vector<float> right = b;
  reduce(ReduceOp::kSum, DType::kF32, 9, a.data(), right.data(), right.data());
  EXPECT_EQ(right, sums);
  std::vector<float> other(9);
  reduce(ReduceOp::kSum, DType::kF32, 9, a.data(), b.data(), other.data());
  EXPECT_EQ(other, sums);
}

TEST(Reduce, IntegersWrapAround) {
  int32_t most = std::numeric_limits<int32_t>::max();
  const int32_t one = 1;
  reduce(ReduceOp::kSum, DType::kI32, 1, &most, &one, &most);
  EXPECT_EQ(most, std::numeric_limits<int32_t>::min());
  uint8_t byte = 250;
  const uint8_t ten = 10;
  reduce(ReduceOp::kSum, DType::kU8, 1, &byte, &ten, &byte);
  EXPECT_EQ(byte, 4);
}

TEST(Reduce, ANanWinsFromEitherSide) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    const double left[] = {nan, 1.0};
    const double right[] = {1.0, nan};
    double result[2] = {};
    reduce(op, DType::kF64, 2, left, right, result);
    EXPECT_TRUE(std::isnan(result[0])) << name_of(op);
    EXPECT_TRUE(std::isnan(result[1])) << name_of(op);
  }
}

TEST(Reduce, MaxAndMinChoose) {
  const int64_t left[] = {-5, 7};
  const int64_t right[] = {3, -9};
  int64_t result[2] = {};
  reduce(ReduceOp::kMax, DType::kI64, 2, left, right, result);
  EXPECT_EQ(result[0], 3);
  EXPECT_EQ(result[1], 7);
  reduce(ReduceOp::kMin, DType::kI64, 2, left, right, result);
  EXPECT_EQ(result[0], -5);
  EXPECT_EQ(result[1], -9);
}

TEST(Reduce, HalvesAreAddedInSinglePrecisionAndRounded) {
  Half half(2048.0F);
  const Half one(1.0F);
  reduce(ReduceOp::kSum, DType::kF16, 1, &half, &one, &half);
  EXPECT_EQ(static_cast<float>(half), 2048.0F);  // 2049 is not a half; to even
  BFloat16 brain(256.0F);
  const BFloat16 three(3.0F);
  reduce(ReduceOp::kSum, DType::kBF16, 1, &brain, &three, &brain);
  EXPECT_EQ(static_cast<float>(brain), 260.0F);  // 259 lies between 258 and 260, halfway; to even
}

/// Of every pair of operands out of some that rounding, subnormals and NaN make hard; several vectors long.
template <class T>
void expect_reduced_one_by_one() {
  const float special[] = {0.0F,
                           -0.0F,
                           1.0F,
                           -3.5F,
                           2049.0F,
                           65504.0F,
                           -65504.0F,
                           0x1p-24F,
                           0x1p-14F,
                           3e38F,
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  std::vector<T> left;
  std::vector<T> right;
  for (const float a : special) {
    for (const float b : special) {
      left.push_back(T(a));
      right.push_back(T(b));
    }
  }
  std::vector<T> sums(left.size());
  std::vector<T> greatest = left;
  const auto count = static_cast<int64_t>(left.size());
  reduce(ReduceOp::kSum, DTypeOf<T>::value, count, left.data(), right.data(), sums.data());
  reduce(ReduceOp::kMax, DTypeOf<T>::value, count, greatest.data(), right.data(), greatest.data());
  for (size_t i = 0; i < left.size(); ++i) {
    const auto a = static_cast<float>(left[i]);
    const auto b = static_cast<float>(right[i]);
    EXPECT_EQ(sums[i].bits, T(a + b).bits) << a << " + " << b;
    const bool nan = std::isnan(a) || std::isnan(b);
    EXPECT_EQ(std::isnan(static_cast<float>(greatest[i])), nan) << a << " or " << b;
    if (!nan) {
      EXPECT_EQ(static_cast<float>(greatest[i]), std::max(a, b));
    }
  }
}

TEST(Reduce, ManyHalvesAreReducedAsOneIs) {
  expect_reduced_one_by_one<Half>();
  expect_reduced_one_by_one<BFloat16>();
}

TEST(Reduce, NothingIsNothing) {
  reduce(ReduceOp::kSum, DType::kF32, 0, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace lockstep::comm

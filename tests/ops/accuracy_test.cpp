#include "ops/accuracy/accuracy.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep::ops {
namespace {

TEST(Accuracy, CountsFirstGreatest) {
  const Tensor logits = Tensor::from<float>({1, 3, 2, 5, 5, 0, -1, -2, -3}, {3, 3});
  EXPECT_EQ(count_correct(logits, Tensor::from<int64_t>({1, 0, 0}, {3})), 3);
  EXPECT_EQ(count_correct(logits, Tensor::from<int64_t>({1, 1, 2}, {3})), 1)
      << "the second of equals is not the first";
}

TEST(Accuracy, IgnoredAndNanRowsDoNotCount) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor logits = Tensor::from<float>({1, 0, nan, 1, 1, nan}, {3, 2});
  EXPECT_EQ(count_correct(logits, Tensor::from<int64_t>({0, 1, 0}, {3})), 1);
  EXPECT_EQ(count_correct(logits, Tensor::from<int64_t>({-100, 0, 1}, {3})), 0);
  EXPECT_EQ(count_correct(logits, Tensor::from<int64_t>({0, 0, 0}, {3}), 0), 0) << "0 is ignored here";
}

TEST(Accuracy, EmptyAndStrided) {
  EXPECT_EQ(count_correct(Tensor::zeros({0, 3}), Tensor::zeros({0}, DType::kI64)), 0);
  const Tensor columns = Tensor::from<float>({1, 0, 0, 1}, {2, 2}).permute({1, 0});
  EXPECT_EQ(count_correct(columns, Tensor::from<int64_t>({0, 1}, {2})), 2);
}

TEST(Accuracy, ShapesMustFit) {
  EXPECT_THROW(count_correct(Tensor::zeros({2, 3}), Tensor::zeros({3}, DType::kI64)), InvalidArgument);
  EXPECT_THROW(count_correct(Tensor::zeros({2}), Tensor::zeros({2}, DType::kI64)), InvalidArgument);
}

}  // namespace
}  // namespace lockstep::ops

#include "ops/accuracy/accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/ops/op_rows.h"

namespace lockstep::ops {
namespace {

/// Rows with a unique greatest element.
int64_t reference_count(const test::Array& logits, const std::vector<int64_t>& targets) {
  int64_t correct = 0;
  for (int64_t row = 0; row < logits.shape[0]; ++row) {
    const auto begin = logits.values.begin() + row * logits.shape[1];
    const auto greatest = std::max_element(begin, begin + logits.shape[1]) - begin;
    if (greatest == targets[static_cast<size_t>(row)]) ++correct;
  }
  return correct;
}

test::OpCase op_case(int64_t rows, int64_t classes) {
  const std::vector<int64_t> targets(static_cast<size_t>(rows), 1);
  return {.name = "count_correct",
          .inputs = {test::random_array({rows, classes}, 1)},
          .run =
              [=](const std::vector<Tensor>& x) {
                return Tensor::full({},
                                    static_cast<double>(count_correct(x[0], Tensor::from(targets, {rows}))));
              },
          .reference =
              [=](const std::vector<test::Array>& x) {
                return test::full({}, static_cast<double>(reference_count(x[0], targets)));
              }};
}

TEST(Accuracy, AgreesWithTheDefinition) {
  test::check_values(op_case(60, 3));
}

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

test::OpRows accuracy_rows() {
  return {{.name = "count_correct", .checked = op_case(60, 3), .timed = [] { return op_case(4096, 1000); }}};
}

}  // namespace lockstep::ops

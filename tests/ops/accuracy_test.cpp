#include "ops/accuracy/accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

/// For rows without equal elements.
int64_t reference_count(const test::Array& logits, const std::vector<int64_t>& targets, int64_t k) {
  int64_t count = 0;
  for (int64_t row = 0; row < logits.shape[0]; ++row) {
    const auto begin = logits.values.begin() + row * logits.shape[1];
    const double own = begin[targets[static_cast<size_t>(row)]];
    if (std::count_if(begin, begin + logits.shape[1], [=](double x) { return x > own; }) < k) ++count;
  }
  return count;
}

test::OpCase op_case(int64_t rows, int64_t classes, int64_t k) {
  const std::vector<int64_t> targets(static_cast<size_t>(rows), 1);
  return {.name = to_text("count_in_top_k of ", k),
          .inputs = {test::random_array({rows, classes}, 1)},
          .run =
              [given = Tensor::from(targets, {rows}), k](const std::vector<Tensor>& x) {
                return Tensor::full({}, static_cast<double>(count_in_top_k(x[0], given, k)));
              },
          .reference =
              [=](const std::vector<test::Array>& x) {
                return test::full({}, static_cast<double>(reference_count(x[0], targets, k)));
              },
          .value_tolerance = 0};
}

TEST(Accuracy, AgreesWithTheDefinition) {
  for (const int64_t k : {1, 2, 5, 7, 100}) test::check_values(op_case(60, 7, k));
}

TEST(Accuracy, TopKTakesTheFirstOfEquals) {
  const Tensor logits = Tensor::from<float>({5, 1, 5, 5, 0}, {1, 5}).expand({3, 5});
  const Tensor targets = Tensor::from<int64_t>({0, 2, 3}, {3});
  EXPECT_EQ(count_in_top_k(logits, targets, 1), 1);
  EXPECT_EQ(count_in_top_k(logits, targets, 2), 2);
  EXPECT_EQ(count_in_top_k(logits, targets, 3), 3);
  EXPECT_EQ(count_in_top_k(logits, targets, 3, 2), 2) << "class 2 is ignored here";
  const Tensor nan = Tensor::full({1, 5}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(count_in_top_k(nan, Tensor::zeros({1}, DType::kI64), 5), 0);
  test::expect_error<InvalidArgument>([&] { count_in_top_k(logits, targets, 0); },
                                      "[count_in_top_k] expected a positive k, got 0");
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
  test::expect_error<InvalidArgument>(
      [] {
        count_correct(Tensor::zeros({2, 3}), Tensor::zeros({3}, DType::kI64));
      },
      "[count_correct] expected logits [n, classes] and targets [n], got [2, 3] and [3]");
  EXPECT_THROW(count_correct(Tensor::zeros({2}), Tensor::zeros({2}, DType::kI64)), InvalidArgument);
}

}  // namespace

test::OpRows accuracy_rows() {
  return {
      {.name = "count_correct", .checked = op_case(60, 7, 1), .timed = [] { return op_case(4096, 1000, 1); }},
      {.name = "count_in_top_k", .checked = op_case(60, 7, 5), .timed = [] {
         return op_case(4096, 1000, 5);
       }}};
}

}  // namespace lockstep::ops

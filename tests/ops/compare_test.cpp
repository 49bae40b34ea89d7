#include "ops/compare/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

struct Comparison {
  const char* name;
  Tensor (*run)(const Tensor&, const Tensor&);
  bool (*holds)(double, double);
};

constexpr Comparison kComparisons[] = {
    {"eq", eq, [](double a, double b) { return a == b; }},
    {"ne", ne, [](double a, double b) { return a != b; }},
    {"lt", lt, [](double a, double b) { return a < b; }},
    {"le", le, [](double a, double b) { return a <= b; }},
    {"gt", gt, [](double a, double b) { return a > b; }},
    {"ge", ge, [](double a, double b) { return a >= b; }},
};

/// Small whole numbers, so that equal ones meet.
Array whole_numbers(const Shape& shape, uint64_t seed) {
  return test::map(test::random_array(shape, seed, 0, 4), [](double x) { return std::floor(x); });
}

OpCase op_case(const Comparison& comparison, const Shape& a, const Shape& b) {
  return {.name = to_text(comparison.name, " of ", a, " and ", b),
          .inputs = {whole_numbers(a, 1), whole_numbers(b, 2)},
          .run = [=](const std::vector<Tensor>& x) { return comparison.run(x[0], x[1]); },
          .reference =
              [=](const std::vector<Array>& x) {
                return test::zip(x[0], x[1], [=](double u, double v) { return comparison.holds(u, v); });
              },
          .value_tolerance = 0};
}

TEST(Compare, AgreesWithTheDefinitionUnderBroadcasting) {
  for (const Comparison& comparison : kComparisons) {
    for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{}, {}},
                                                                   {{37}, {37}},
                                                                   {{4, 5}, {5}},
                                                                   {{4, 1}, {1, 5}},
                                                                   {{}, {3, 4}},
                                                                   {{2, 3, 4}, {2, 1, 4}},
                                                                   {{0, 3}, {3}}}) {
      test::check_values(op_case(comparison, a, b));
    }
  }
}

TEST(Compare, EveryElementTypeIsComparedAsItself) {
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor a = test::to_tensor({{3}, {1, 2, 3}}, dtype);
    const Tensor b = test::to_tensor({{3}, {1, 3, 2}}, dtype);
    const Tensor less = lt(a, b);
    EXPECT_EQ(less.dtype(), DType::kU8);
    EXPECT_EQ(less.to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 0})) << dtype;
  }
  const int64_t big = int64_t{1} << 60;  // as f32 or f64 both would be equal
  EXPECT_EQ(eq(Tensor::from<int64_t>({big}, {1}), Tensor::from<int64_t>({big + 1}, {1})).to_vector<uint8_t>(),
            std::vector<uint8_t>{0});
}

TEST(Compare, NanIsOnlyUnequal) {
  const Tensor nan = Tensor::full({1}, std::numeric_limits<double>::quiet_NaN());
  for (const Comparison& comparison : kComparisons) {
    EXPECT_EQ(comparison.run(nan, nan).to_vector<uint8_t>()[0], std::string(comparison.name) == "ne");
  }
}

TEST(Compare, LargeOpaqueAndTrackedOperands) {
  const Array values = test::random_array({70001}, 1);
  Tensor x = test::to_tensor(values);
  x.set_requires_grad(true);
  const Tensor positive = gt(x, Tensor::scalar(0));
  EXPECT_FALSE(positive.requires_grad());
  const std::vector<uint8_t> result = positive.to_vector<uint8_t>();
  for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], values.values[i] > 0) << i;
  EXPECT_EQ(ge(test::padded_tensor({1, 2}, {2}), Tensor::scalar(2)).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 1}));
}

TEST(Compare, ErrorsNameShapesAndTypes) {
  test::expect_error<InvalidArgument>([] { lt(Tensor::zeros({2}), Tensor::zeros({3})); }, "[2] and [3]");
  test::expect_error<InvalidArgument>([] { eq(Tensor::zeros({2}), Tensor::zeros({2}, DType::kI64)); },
                                      "[eq] expected operands of one element type, got f32 [2] and i64 [2]");
  test::expect_error<InvalidArgument>([] { ge(Tensor(), Tensor::zeros({2})); },
                                      "[ge] an operand is undefined");
}

}  // namespace

test::OpRows compare_rows() {
  test::OpRows rows;
  for (const Comparison& comparison : kComparisons) {
    rows.push_back({.name = comparison.name, .checked = op_case(comparison, {4, 5}, {5}), .timed = [=] {
                      return op_case(comparison, {1 << 22}, {1 << 22});
                    }});
  }
  return rows;
}

}  // namespace lockstep::ops

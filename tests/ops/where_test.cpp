#include "ops/where/where.h"

#include <gtest/gtest.h>

#include <limits>

#include "ops/cast/cast.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

OpCase op_case(const Shape& condition, const Shape& a, const Shape& b) {
  const Array coin = test::map(test::random_array(condition, 3), [](double x) { return x > 0 ? 1 : 0; });
  return {.name = to_text("where of ", condition, ", ", a, " and ", b),
          .inputs = {test::random_array(a, 1), test::random_array(b, 2)},
          .run = [choice = cast(test::to_strided_tensor(coin), DType::kU8)](
                     const std::vector<Tensor>& x) { return where(choice, x[0], x[1]); },
          .reference =
              [coin](const std::vector<Array>& x) {
                // Of both products one is 0.
                const Array first = test::zip(coin, x[0], [](double c, double v) { return c * v; });
                const Array second = test::zip(coin, x[1], [](double c, double v) { return (1 - c) * v; });
                return test::zip(first, second, [](double u, double v) { return u + v; });
              },
          .value_tolerance = 0};
}

TEST(Where, ValuesAndGradientsUnderBroadcasting) {
  test::check_op(op_case({}, {}, {}));
  test::check_op(op_case({37}, {37}, {37}));
  test::check_op(op_case({4, 5}, {4, 5}, {}));
  test::check_op(op_case({4, 1}, {5}, {4, 5}));
  test::check_op(op_case({5}, {2, 1, 1}, {4, 1}));
  test::check_op(op_case({0, 3}, {3}, {1}));
}

TEST(Where, WhatWasNotTakenLeavesNoTrace) {
  // As a product with 0 and 1 it would be NaN.
  Tensor x = Tensor::from<float>({4, std::numeric_limits<float>::quiet_NaN()}, {2});
  x.set_requires_grad(true);
  const Tensor y = where(Tensor::from<uint8_t>({1, 0}, {2}), x, Tensor::zeros({2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4, 0}));
  backward(y, {.seed = Tensor::full({2}, 3), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 0}));
}

TEST(Where, EveryNumberButZeroIsYes) {
  const Tensor condition = Tensor::from<uint8_t>({0, 1, 2, 255}, {4});
  EXPECT_EQ(where(condition, Tensor::scalar(1), Tensor::scalar(-1)).to_vector<float>(),
            (std::vector<float>{-1, 1, 1, 1}));
}

TEST(Where, TakesEveryElementTypeAndLayout) {
  const Tensor condition = Tensor::from<uint8_t>({1, 0}, {2});
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor y =
        where(condition, test::to_tensor({{2}, {1, 2}}, dtype), test::to_tensor({{}, {9}}, dtype));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(test::to_array(y).values, (std::vector<double>{1, 9})) << dtype;
  }
  EXPECT_EQ(where(condition, test::padded_tensor({1, 2}, {2}), Tensor::scalar(9)).to_vector<float>(),
            (std::vector<float>{1, 9}));
}

TEST(Where, ErrorsNameTypesAndShapes) {
  const Tensor yes = Tensor::full({2}, 1, DType::kU8);
  const Tensor x = Tensor::zeros({2});
  test::expect_error<InvalidArgument>(
      [&] { where(x, x, x); }, "expected a u8 condition and two operands of one element type, got f32");
  test::expect_error<InvalidArgument>([&] { where(yes, x, Tensor::zeros({2}, DType::kI64)); },
                                      "got u8, f32 and i64");
  test::expect_error<InvalidArgument>([&] { where(yes, x, Tensor::zeros({3})); }, "[2] and [3]");
  test::expect_error<InvalidArgument>([&] { where(Tensor::zeros({3}, DType::kU8), x, x); }, "[3] and [2]");
  test::expect_error<InvalidArgument>([&] { where(Tensor(), x, x); }, "[where] an operand is undefined");
}

}  // namespace

test::OpRows where_rows() {
  return {{.name = "where", .checked = op_case({4, 5}, {4, 5}, {4, 5}), .timed = [] {
             return op_case({1 << 22}, {1 << 22}, {1 << 22});
           }}};
}

}  // namespace lockstep::ops

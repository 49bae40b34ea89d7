#include "ops/relu/relu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/op_case.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

/// Values that keep away from the kink at 0.
test::Array values_around_zero(const Shape& shape) {
  return test::map(test::random_array(shape, 3), [](double x) { return x < 0 ? x - 0.01 : x + 0.01; });
}

test::OpCase op_case(const Shape& shape) {
  return {.name = "relu",
          .inputs = {values_around_zero(shape)},
          .run = [](const std::vector<Tensor>& x) { return relu(x[0]); },
          .reference =
              [](const std::vector<test::Array>& x) {
                return test::map(x[0], [](double v) { return v > 0 ? v : 0; });
              }};
}

TEST(Relu, ValuesAndGradients) {
  for (const Shape& shape : {Shape{}, Shape{19}, Shape{2, 3, 4}, Shape{0, 3}}) test::check_op(op_case(shape));
}

TEST(Relu, LargeTensorUsesAllThreads) {
  const Tensor x = test::to_tensor(test::random_array({200001}, 4));
  const std::vector<float> values = x.to_vector<float>();
  const std::vector<float> result = relu(x).to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(result[i], std::max(values[i], 0.0F)) << i;
}

TEST(Relu, EdgesOfTheNumberLine) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor x = Tensor::from<float>({0, -kInf, kInf, std::numeric_limits<float>::quiet_NaN()}, {4});
  x.set_requires_grad(true);
  const Tensor y = relu(x);
  const std::vector<float> values = y.to_vector<float>();
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], kInf);
  EXPECT_TRUE(std::isnan(values[3]));
  backward(y, {.seed = Tensor::full({4}, 1), .between_nodes = {}});
  const std::vector<float> gradient = x.grad().to_vector<float>();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_EQ(gradient[2], 1);
}

TEST(Relu, OpaqueLayoutIsKeptInBothDirections) {
  Tensor x = test::padded_tensor({1, -2, 3, -4, 5, -6}, {2, 3});
  x.set_requires_grad(true);
  const Tensor y = relu(x);
  EXPECT_EQ(y.layout(), x.layout());
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(test::padding_of(y), (std::vector<float>{0, 0}));
  backward(y, {.seed = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 0, 3, 0, 5, 0}));
}

TEST(Relu, PlainGradientMeetsOpaqueResult) {
  Tensor x = test::padded_tensor({1, -2, 3, -4, 5, -6}, {2, 3});
  x.set_requires_grad(true);
  backward(relu(x), {.seed = Tensor::full({2, 3}, 2), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 0, 2, 0, 2, 0}));
}

TEST(Relu, OtherTypesAreRefused) {
  EXPECT_THROW(relu(Tensor::zeros({2}, DType::kI32)), InvalidArgument);
}

}  // namespace

test::OpRows relu_rows() {
  return {{.name = "relu", .checked = op_case({2, 3, 4}), .timed = [] { return op_case({1 << 22}); }}};
}

}  // namespace lockstep::ops

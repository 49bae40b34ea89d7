#include "ops/linear/linear.h"

#include <gtest/gtest.h>

#include <numeric>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

test::OpCase op_case(const Shape& x, int64_t outputs, bool has_bias) {
  test::OpCase op;
  op.name = to_text("linear of ", x, " to ", outputs);
  op.inputs = {test::random_array(x, 1), test::random_array({outputs, x[1]}, 2)};
  if (has_bias) op.inputs.push_back(test::random_array({outputs}, 3));
  op.run = [has_bias](const std::vector<Tensor>& inputs) {
    return has_bias ? linear(inputs[0], inputs[1], inputs[2]) : linear(inputs[0], inputs[1]);
  };
  op.reference = [has_bias](const std::vector<Array>& inputs) {
    const auto& [x_shape, x_values] = inputs[0];
    const int64_t width = x_shape[1];
    Array y = test::full({x_shape[0], inputs[1].shape[0]}, 0);
    for (int64_t i = 0; i < y.count(); ++i) {
      const double* row = x_values.data() + i / y.shape[1] * width;
      const double* weights = inputs[1].values.data() + i % y.shape[1] * width;
      y[i] = std::inner_product(row, row + width, weights, has_bias ? inputs[2][i % y.shape[1]] : 0.0);
    }
    return y;
  };
  return op;
}

TEST(Linear, AgreesWithTheDefinition) {
  for (const bool has_bias : {true, false}) {
    for (const Shape& x : {Shape{1, 1}, Shape{1, 7}, Shape{5, 3}, Shape{4, 16}, Shape{9, 17}}) {
      for (const int64_t outputs : {1, 10, 16}) test::check_op(op_case(x, outputs, has_bias));
    }
  }
}

TEST(Linear, WritesGradientsIntoTheBoundViews) {
  Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  Tensor weight = Tensor::from<float>({1, 0, 0, 1, 1, 1, 2, -1}, {4, 2});
  Tensor bias = Tensor::zeros({4});
  for (Tensor* leaf : {&x, &weight, &bias}) leaf->set_requires_grad(true);
  const Tensor bucket = Tensor::full({12}, 99);
  weight.leaf_gradient().bind(bucket.narrow(0, 0, 8).view({4, 2}));
  bias.leaf_gradient().bind(bucket.narrow(0, 8, 4));
  const Tensor y = linear(x, weight, bias);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2, 3, 0, 3, 4, 7, 2, 5, 6, 11, 4}));
  backward(y,
           {.seed = Tensor::from<float>({1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, {3, 4}), .between_nodes = {}});
  EXPECT_EQ(bucket.to_vector<float>(), (std::vector<float>{9, 12, 18, 24, 27, 36, 36, 48, 3, 6, 9, 12}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{12, 1, 12, 1, 12, 1}));
}

TEST(Linear, GivesTheSameBitsTwice) {
  const auto run = [] {
    const auto op = op_case({65, 200}, 40, true);
    std::vector<Tensor> inputs;
    for (const Array& input : op.inputs) {
      inputs.push_back(test::to_tensor(input));
      inputs.back().set_requires_grad(true);
    }
    const Tensor y = op.run(inputs);
    backward(y, {.seed = Tensor::full(y.shape(), 0.1), .between_nodes = {}});
    std::vector<std::vector<float>> bits = {y.to_vector<float>()};
    for (const Tensor& input : inputs) bits.push_back(input.grad().to_vector<float>());
    return bits;
  };
  EXPECT_EQ(run(), run());
}

TEST(Linear, ErrorsNameBothShapes) {
  const auto call = [](const Shape& x, const Shape& weight) {
    return [=] { linear(Tensor::zeros(x), Tensor::zeros(weight)); };
  };
  test::expect_error<InvalidArgument>(call({2, 3}, {4, 5}),
                                      "[linear] features do not match: input [2, 3], weight [4, 5]");
  test::expect_error<InvalidArgument>(call({2, 3, 4}, {4, 5}), "got input [2, 3, 4] and weight [4, 5]");
  test::expect_error<InvalidArgument>(call({0, 5}, {4, 5}),
                                      "empty batch or weight: input [0, 5], weight [4, 5]");
  test::expect_error<InvalidArgument>(
      [] {
        linear(Tensor::zeros({2, 5}), Tensor::zeros({4, 5}), Tensor::zeros({5}));
      },
      "expected bias [4] for weight [4, 5], got [5]");
}

}  // namespace

test::OpRows linear_rows() {
  return {{.name = "linear",
           .checked = op_case({9, 17}, 10, true),
           .timed =
               [] {
                 return op_case({256, 1024}, 1024, true);
               },
           .flops = 2.0 * 256 * 1024 * 1024}};
}

}  // namespace lockstep::ops

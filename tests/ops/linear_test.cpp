#include "ops/linear/linear.h"

#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

test::OpCase op_case(const Shape& x, int64_t outputs, bool has_bias, bool input_major = false) {
  test::OpCase op;
  op.name = to_text("linear of ", x, " to ", outputs, input_major ? ", input major" : "");
  const int64_t width = x[-1];
  const Shape weight = input_major ? Shape{width, outputs} : Shape{outputs, width};
  op.inputs = {test::random_array(x, 1), test::random_array(weight, 2)};
  if (has_bias) op.inputs.push_back(test::random_array({outputs}, 3));
  op.run = [=](const std::vector<Tensor>& inputs) {
    return linear(inputs[0], inputs[1], has_bias ? inputs[2] : Tensor(), {.input_major = input_major});
  };
  op.reference = [=](const std::vector<Array>& inputs) {
    Shape y_shape = x;
    y_shape[-1] = outputs;
    Array y = test::full(y_shape, 0);
    for (int64_t i = 0; i < y.count(); ++i) {
      const int64_t out = i % outputs;
      y[i] = has_bias ? inputs[2][out] : 0;
      for (int64_t j = 0; j < width; ++j) {
        const double factor = inputs[1].at(input_major ? std::vector{j, out} : std::vector{out, j});
        y[i] += inputs[0][i / outputs * width + j] * factor;
      }
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

TEST(Linear, KeepsLeadingDimensionsAndTakesTransposedWeights) {
  for (const bool input_major : {false, true}) {
    for (const Shape& x : {Shape{4, 5}, Shape{2, 3, 4}, Shape{2, 1, 2, 3}}) {
      test::check_op(op_case(x, 3, true, input_major));
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
  test::expect_error<InvalidArgument>(
      call({2, 3}, {4, 5}), "[linear] features do not match: input [2, 3], weight [4, 5] [out, in]");
  test::expect_error<InvalidArgument>(call({5}, {4, 5}), "got input [5] and weight [4, 5]");
  test::expect_error<InvalidArgument>(call({0, 5}, {4, 5}),
                                      "empty batch or weight: input [0, 5], weight [4, 5]");
  test::expect_error<InvalidArgument>(
      [] {
        linear(Tensor::zeros({2, 5}), Tensor::zeros({4, 5}), Tensor::zeros({5}));
      },
      "expected bias [4] for weight [4, 5] [out, in], got [5]");
  test::expect_error<InvalidArgument>(
      [] {
        linear(Tensor::zeros({2, 5}), Tensor::zeros({4, 5}), {}, {.input_major = true});
      },
      "features do not match: input [2, 5], weight [4, 5] [in, out]");
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

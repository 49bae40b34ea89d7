#include "ops/conv_transpose2d/conv_transpose2d.h"

#include <gtest/gtest.h>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

/// Straight from the definition: every element of x is spread over the result.
Array reference_conv_transpose2d(const Array& x, const Array& weight, const Array* bias,
                                 const ConvTranspose2dOptions& options) {
  const auto extent = [&](int dim) {
    return (x.shape[dim] - 1) * options.stride - 2 * options.padding +
           options.dilation * (weight.shape[dim] - 1) + options.output_padding + 1;
  };
  const int64_t outputs = weight.shape[1];  // of a group
  Array y = test::full({x.shape[0], outputs * options.groups, extent(2), extent(3)}, 0);
  if (bias != nullptr) {
    test::for_each_index(y.shape, [&](const std::vector<int64_t>& at) { y.at(at) = (*bias)[at[1]]; });
  }
  test::for_each_index(x.shape, [&](const std::vector<int64_t>& from) {
    const int64_t group = from[1] / (x.shape[1] / options.groups);
    for (int64_t tap = 0; tap < outputs * weight.shape[2] * weight.shape[3]; ++tap) {
      const int64_t u = tap / weight.shape[3] % weight.shape[2];
      const int64_t v = tap % weight.shape[3];
      const int64_t output = tap / (weight.shape[2] * weight.shape[3]);
      const int64_t row = from[2] * options.stride - options.padding + u * options.dilation;
      const int64_t column = from[3] * options.stride - options.padding + v * options.dilation;
      if (row < 0 || row >= y.shape[2] || column < 0 || column >= y.shape[3]) continue;
      y.at({from[0], group * outputs + output, row, column}) +=
          x.at(from) * weight.at({from[1], output, u, v});
    }
  });
  return y;
}

struct TransposeCase {
  Shape x;
  Shape weight;
  ConvTranspose2dOptions options;
  bool has_bias = true;
};

test::OpCase op_case(const TransposeCase& given) {
  test::OpCase op;
  op.name =
      to_text("conv_transpose2d of ", given.x, " with ", given.weight, ", stride ", given.options.stride,
              ", padding ", given.options.padding, " and ", given.options.output_padding, ", dilation ",
              given.options.dilation, ", groups ", given.options.groups);
  op.inputs = {test::random_array(given.x, 1), test::random_array(given.weight, 2)};
  if (given.has_bias) {
    op.inputs.push_back(test::random_array({given.weight[1] * given.options.groups}, 3));
  }
  op.run = [given](const std::vector<Tensor>& inputs) {
    return conv_transpose2d(inputs[0], inputs[1], given.has_bias ? inputs[2] : Tensor(), given.options);
  };
  op.reference = [given](const std::vector<Array>& inputs) {
    return reference_conv_transpose2d(inputs[0], inputs[1], given.has_bias ? &inputs[2] : nullptr,
                                      given.options);
  };
  return op;
}

TEST(ConvTranspose2d, AgreesWithTheDefinition) {
  const std::vector<TransposeCase> cases = {
      {{1, 1, 3, 3}, {1, 1, 2, 2}, {}},
      {{2, 3, 4, 5}, {3, 4, 2, 2}, {.stride = 2}},
      {{1, 2, 4, 4}, {2, 3, 4, 4}, {.stride = 2, .padding = 1}, false},  // doubles the size
      {{1, 2, 4, 3}, {2, 3, 3, 3}, {.stride = 2, .padding = 1, .output_padding = 1}},
      {{1, 2, 2, 3}, {2, 2, 2, 3}, {.stride = 4, .output_padding = 3}},
      {{1, 2, 5, 5}, {2, 3, 3, 3}, {.padding = 2, .dilation = 2}},
      {{2, 4, 3, 3}, {4, 3, 3, 3}, {.stride = 2, .padding = 1, .groups = 2}},
      {{1, 6, 3, 3}, {6, 1, 2, 2}, {.stride = 2, .groups = 6}, false},
      {{1, 2, 2, 3}, {2, 20, 2, 2}, {.padding = 1}},  // not a full block of channels
  };
  for (const TransposeCase& given : cases) test::check_op(op_case(given));
}

TEST(ConvTranspose2d, IsTheGradientOfTheConvolution) {
  Tensor image = test::to_tensor(test::random_array({2, 3, 8, 7}, 1));
  image.set_requires_grad(true);
  const Tensor weight = test::to_tensor(test::random_array({5, 3, 3, 3}, 2));
  const Tensor y = conv2d(image, weight, {}, {.stride = 2, .padding = 1});
  const Tensor seed = test::to_tensor(test::random_array(y.shape(), 3));
  backward(y, {.seed = seed, .between_nodes = {}});
  // 8 rows need one more than 7 columns.
  const Tensor wide = conv_transpose2d(seed, weight, {}, {.stride = 2, .padding = 1, .output_padding = 1});
  ASSERT_EQ(wide.shape(), (Shape{2, 3, 8, 8}));
  EXPECT_EQ(plain(wide).narrow(3, 0, 7).to_vector<float>(), image.grad().to_vector<float>());
}

TEST(ConvTranspose2d, StaysInTheLayoutOfConvolutions) {
  const Tensor image = test::to_tensor(test::random_array({2, 16, 6, 6}, 1));
  const Tensor first = test::to_tensor(test::random_array({32, 16, 3, 3}, 2));
  const Tensor second = test::to_tensor(test::random_array({32, 20, 2, 2}, 3));
  const Tensor bias = test::to_tensor(test::random_array({20}, 4));
  const Tensor h = conv2d(image, first, {}, {.padding = 1});
  ASSERT_NE(h.layout(), nullptr) << "this machine's library prefers plain memory";
  const uint64_t before = onednn::reorder_count();
  const Tensor y = conv_transpose2d(h, second, bias, {.stride = 2});
  EXPECT_LE(onednn::reorder_count() - before, 1U) << "the weight";
  EXPECT_NE(y.layout(), nullptr);
  const Array second_array = test::to_array(second);
  const Array bias_array = test::to_array(bias);
  test::expect_near(test::to_array(y),
                    reference_conv_transpose2d(test::to_array(h), second_array, &bias_array, {.stride = 2}),
                    1e-5, "result");
}

TEST(ConvTranspose2d, ErrorsNameTheShapes) {
  const auto call = [](const Shape& x, const Shape& weight, const ConvTranspose2dOptions& options = {}) {
    return [=] { conv_transpose2d(Tensor::zeros(x), Tensor::zeros(weight), {}, options); };
  };
  test::expect_error<InvalidArgument>(
      call({2, 3, 8, 8}, {4, 3, 3, 3}),
      "[conv_transpose2d] channels do not match: input [2, 3, 8, 8], weight [4, 3, 3, 3], groups 1");
  test::expect_error<InvalidArgument>(call({2, 3, 8, 8}, {3, 3, 3, 3}, {.groups = 2}), "groups 2");
  test::expect_error<InvalidArgument>(call({3, 8, 8}, {3, 4, 3, 3}),
                                      "got input [3, 8, 8] and weight [3, 4, 3, 3]");
  test::expect_error<InvalidArgument>(call({0, 3, 8, 8}, {3, 4, 3, 3}),
                                      "empty batch, image or weight: input [0, 3, 8, 8]");
  test::expect_error<InvalidArgument>(call({1, 3, 8, 8}, {3, 4, 3, 3}, {.stride = 0}), "got stride 0");
  test::expect_error<InvalidArgument>(call({1, 3, 8, 8}, {3, 4, 3, 3}, {.stride = 2, .output_padding = 2}),
                                      "an output padding from 0 to stride - 1, got 2 with stride 2");
  test::expect_error<InvalidArgument>(
      call({1, 3, 1, 2}, {3, 4, 3, 3}, {.padding = 2}),
      "nothing is left of the result, [-1, 0]: input [1, 3, 1, 2], weight [3, 4, 3, 3], padding 2");
  test::expect_error<InvalidArgument>(
      [] {
        conv_transpose2d(Tensor::zeros({1, 2, 3, 3}), Tensor::zeros({2, 3, 3, 3}), Tensor::zeros({3}),
                         {.groups = 2});
      },
      "expected bias [6] for weight [2, 3, 3, 3] and groups 2, got [3]");
}

}  // namespace

test::OpRows conv_transpose2d_rows() {
  return {{.name = "conv_transpose2d",
           .checked = op_case({{1, 2, 4, 3}, {2, 3, 3, 3}, {.stride = 2, .padding = 1, .output_padding = 1}}),
           .timed =
               [] {
                 return op_case({{32, 64, 28, 28}, {64, 64, 4, 4}, {.stride = 2, .padding = 1}});
               },
           .flops = 2.0 * 32 * 64 * 28 * 28 * 64 * 4 * 4}};
}

}  // namespace lockstep::ops

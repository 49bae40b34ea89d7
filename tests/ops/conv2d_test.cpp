#include "ops/conv2d/conv2d.h"

#include <gtest/gtest.h>

#include <array>

#include "ops/conv2d/conv2d_forms.h"
#include "ops/cpu/onednn.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

/// The sum over the taps that lie inside, for one element of the result.
double sum_at(const Array& x, const Array& weight, int64_t image, int64_t output, int64_t top, int64_t left,
              const Conv2dOptions& options) {
  const auto [channels, tap_rows, tap_columns] =
      std::array{weight.shape[1], weight.shape[2], weight.shape[3]};
  const auto [rows, columns] = std::array{x.shape[2], x.shape[3]};
  const int64_t first_channel = image * x.shape[1] + output / (weight.shape[0] / options.groups) * channels;
  const double* tap = weight.values.data() + output * channels * tap_rows * tap_columns;
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    const double* plane = x.values.data() + (first_channel + c) * rows * columns;
    for (int64_t u = 0; u < tap_rows; ++u) {
      for (int64_t v = 0; v < tap_columns; ++v, ++tap) {
        const int64_t row = top + u * options.dilation;
        const int64_t column = left + v * options.dilation;
        const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
        if (inside) sum += *tap * plane[row * columns + column];
      }
    }
  }
  return sum;
}

/// Straight from the definition.
Array reference_conv2d(const Array& x, const Array& weight, const Array* bias, const Conv2dOptions& options) {
  const auto extent = [&](int dim) {
    const int64_t span = options.dilation * (weight.shape[dim] - 1) + 1;
    return (x.shape[dim] + 2 * options.padding - span) / options.stride + 1;
  };
  Array y = test::full({x.shape[0], weight.shape[0], extent(2), extent(3)}, 0);
  for (int64_t at = 0; at < y.count(); ++at) {
    const int64_t output = at / (y.shape[2] * y.shape[3]) % y.shape[1];
    const int64_t image = at / (y.shape[1] * y.shape[2] * y.shape[3]);
    const int64_t top = at / y.shape[3] % y.shape[2] * options.stride - options.padding;
    const int64_t left = at % y.shape[3] * options.stride - options.padding;
    y[at] = sum_at(x, weight, image, output, top, left, options) + (bias ? (*bias)[output] : 0);
  }
  return y;
}

Array swap_first_two(const Array& x) {
  Array result = test::full({x.shape[1], x.shape[0], x.shape[2], x.shape[3]}, 0);
  const int64_t plane = x.shape[2] * x.shape[3];
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t first = i / plane / x.shape[1];
    const int64_t second = i / plane % x.shape[1];
    result[(second * x.shape[0] + first) * plane + i % plane] = x[i];
  }
  return result;
}

struct ConvCase {
  Shape x;
  Shape weight;
  Conv2dOptions options;
  bool has_bias = true;
};

test::OpCase op_case(const ConvCase& conv) {
  test::OpCase op;
  op.name =
      to_text("conv2d of ", conv.x, " with ", conv.weight, ", stride ", conv.options.stride, ", padding ",
              conv.options.padding, ", dilation ", conv.options.dilation, ", groups ", conv.options.groups);
  op.inputs = {test::random_array(conv.x, 1), test::random_array(conv.weight, 2)};
  if (conv.has_bias) op.inputs.push_back(test::random_array({conv.weight[0]}, 3));
  op.run = [conv](const std::vector<Tensor>& inputs) {
    return conv2d(inputs[0], inputs[1], conv.has_bias ? inputs[2] : Tensor(), conv.options);
  };
  op.reference = [conv](const std::vector<Array>& inputs) {
    return reference_conv2d(inputs[0], inputs[1], conv.has_bias ? &inputs[2] : nullptr, conv.options);
  };
  return op;
}

TEST(Conv2d, AgreesWithTheDefinition) {
  const std::vector<ConvCase> cases = {
      {{1, 1, 5, 5}, {1, 1, 3, 3}, {}},
      {{2, 3, 7, 5}, {4, 3, 3, 3}, {.padding = 1}},
      {{1, 3, 5, 5}, {20, 3, 3, 3}, {.stride = 2, .padding = 1}},
      {{2, 5, 8, 7}, {7, 5, 1, 1}, {}},
      {{2, 4, 8, 8}, {6, 4, 1, 1}, {.stride = 2}, false},
      {{1, 2, 11, 9}, {3, 2, 3, 3}, {.padding = 2, .dilation = 2}},
      {{2, 4, 6, 6}, {8, 2, 3, 3}, {.padding = 1, .groups = 2}},
      {{1, 6, 5, 5}, {6, 1, 3, 3}, {.padding = 1, .groups = 6}},
      {{1, 2, 9, 9}, {4, 2, 5, 4}, {.stride = 3, .padding = 2}, false},
      {{1, 2, 9, 9}, {3, 2, 7, 7}, {.stride = 2, .padding = 3}},
      {{3, 2, 4, 4}, {3, 2, 4, 4}, {}},
      {{1, 1, 1, 1}, {2, 1, 3, 3}, {.padding = 1}},
      {{1, 16, 3, 3}, {16, 16, 3, 3}, {.padding = 1}},  // one full block of channels
  };
  for (const ConvCase& conv : cases) test::check_op(op_case(conv));
}

TEST(Conv2d, AgreesWithTheDefinitionWhereForwardRunsAsBackwardByData) {
  const ConvCase conv{{3, 16, 6, 7}, {16, 16, 3, 3}, {.padding = 1}, false};
  ASSERT_TRUE(forward_as_backward_data(conv.weight, conv.options));
  test::check_op(op_case(conv));
}

/// Many channels, many images, 3x3: where libraries leave the definition for Winograd's algorithm. Too large
/// for numeric differences of every element; every 97th from the definition instead.
TEST(Conv2d, AgreesWithTheDefinitionWhereTheAlgorithmIsWinograds) {
  constexpr int64_t kImages = 64, kIn = 32, kOut = 48, kSide = 8;
  const ConvCase conv{{kImages, kIn, kSide, kSide}, {kOut, kIn, 3, 3}, {.padding = 1}, false};
  auto op = op_case(conv);
  op.value_tolerance = 4e-5;  // Winograd's transforms subtract numbers larger than the result
  test::check_values(op);

  const Array& weight = op.inputs[1];
  Tensor x_leaf = test::to_tensor(op.inputs[0]);
  Tensor weight_leaf = test::to_tensor(weight);
  x_leaf.set_requires_grad(true);
  weight_leaf.set_requires_grad(true);
  const Array seed = test::random_array({kImages, kOut, kSide, kSide}, 4);
  backward(op.run({x_leaf, weight_leaf}), {.seed = test::to_tensor(seed), .between_nodes = {}});

  // d/dx: a convolution of the seed with the weight turned by 180 degrees and its channels exchanged.
  Array turned = test::full({kIn, kOut, 3, 3}, 0);
  for (int64_t i = 0; i < turned.count(); ++i) {
    turned[i] = weight[(i / 9 % kOut * kIn + i / (9 * kOut)) * 9 + 8 - i % 9];
  }
  // d/dweight: a convolution of the images with the seed, batch and channels exchanged.
  const Array images = swap_first_two(op.inputs[0]);
  const Array kernels = swap_first_two(seed);
  const Array x_grad = test::to_array(x_leaf.grad());
  const Array weight_grad = test::to_array(weight_leaf.grad());
  for (int64_t i = 0; i < x_grad.count(); i += 97) {
    const int64_t plane = i / (kSide * kSide);
    const double expected =
        sum_at(seed, turned, plane / kIn, plane % kIn, i / kSide % kSide - 1, i % kSide - 1, conv.options);
    EXPECT_NEAR(x_grad[i], expected, 1e-4) << "gradient of x, element " << i;
  }
  for (int64_t i = 0; i < weight_grad.count(); i += 97) {
    const double expected =
        sum_at(images, kernels, i / 9 % kIn, i / (9 * kIn), i / 3 % 3 - 1, i % 3 - 1, conv.options);
    EXPECT_NEAR(weight_grad[i], expected, 5e-4) << "gradient of weight, element " << i;
  }
}

TEST(Conv2d, GradientsAreLinearMapsOfTheGradient) {
  // Exact in small integers: an image of ones seen through a kernel of ones counts the taps inside.
  Tensor x = Tensor::full({1, 1, 3, 3}, 1);
  Tensor weight = Tensor::full({1, 1, 3, 3}, 1);
  Tensor bias = Tensor::full({1}, 0.5);
  for (Tensor* leaf : {&x, &weight, &bias}) leaf->set_requires_grad(true);
  const Tensor y = conv2d(x, weight, bias, {.padding = 1});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4.5, 6.5, 4.5, 6.5, 9.5, 6.5, 4.5, 6.5, 4.5}));
  backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{4, 6, 4, 6, 9, 6, 4, 6, 4}));
  EXPECT_EQ(weight.grad().to_vector<float>(), (std::vector<float>{4, 6, 4, 6, 9, 6, 4, 6, 4}));
  EXPECT_EQ(bias.grad().to_vector<float>(), (std::vector<float>{9}));
}

TEST(Conv2d, WritesGradientsIntoTheBoundViewsAndAddsLaterOnes) {
  const auto op = op_case({{2, 3, 6, 6}, {8, 3, 3, 3}, {.padding = 1}});
  const Tensor x = test::to_tensor(op.inputs[0]);
  Tensor weight = test::to_tensor(op.inputs[1]);
  Tensor bias = test::to_tensor(op.inputs[2]);
  weight.set_requires_grad(true);
  bias.set_requires_grad(true);
  const Tensor bucket = Tensor::full({weight.count() + bias.count()}, 99);
  const Tensor weight_view = bucket.narrow(0, 0, weight.count()).view(weight.shape());
  const Tensor bias_view = bucket.narrow(0, weight.count(), bias.count());
  weight.leaf_gradient().bind(weight_view);
  bias.leaf_gradient().bind(bias_view);
  const auto step = [&] {
    const Tensor y = conv2d(x, weight, bias, {.padding = 1});
    backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});
  };
  step();
  EXPECT_TRUE(weight.grad().same_memory(weight_view));
  const std::vector<float> once = bucket.to_vector<float>();
  step();
  std::vector<float> twice = once;
  for (float& value : twice) value *= 2;
  EXPECT_EQ(bucket.to_vector<float>(), twice);
}

TEST(Conv2d, ChainNeedsNoReorderOfActivations) {
  const Tensor image = test::to_tensor(test::random_array({2, 1, 12, 12}, 1));
  Tensor first = test::to_tensor(test::random_array({32, 1, 3, 3}, 2));
  Tensor second = test::to_tensor(test::random_array({64, 32, 3, 3}, 3));
  first.set_requires_grad(true);
  second.set_requires_grad(true);
  const uint64_t before = onednn::reorder_count();
  const Tensor y = conv2d(conv2d(image, first, {}, {.padding = 1}), second, {}, {.padding = 1});
  ASSERT_NE(y.layout(), nullptr) << "this machine's library prefers plain memory";
  EXPECT_LE(onednn::reorder_count() - before, 2U) << "one for each weight";
  const uint64_t between = onednn::reorder_count();
  const Tensor seed = Tensor::opaque(y.shape(), DType::kF32, y.layout());
  std::fill_n(static_cast<float*>(seed.raw()), seed.nbytes() / sizeof(float), 1.0F);
  backward(y, {.seed = seed, .between_nodes = {}});
  EXPECT_LE(onednn::reorder_count() - between, 3U) << "second weight, and both weights' gradients";
}

TEST(Conv2d, GivesTheSameBitsTwice) {
  const auto run = [] {
    const auto op = op_case({{3, 8, 9, 9}, {24, 8, 3, 3}, {.stride = 2, .padding = 1}});
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

TEST(Conv2d, ErrorsNameBothShapes) {
  const auto conv = [](const Shape& x, const Shape& weight, const Conv2dOptions& options = {}) {
    return [=] { conv2d(Tensor::zeros(x), Tensor::zeros(weight), {}, options); };
  };
  test::expect_error<InvalidArgument>(
      conv({2, 3, 8, 8}, {4, 2, 3, 3}),
      "[conv2d] channels do not match: input [2, 3, 8, 8], weight [4, 2, 3, 3], groups 1");
  test::expect_error<InvalidArgument>(conv({2, 4, 8, 8}, {3, 2, 3, 3}, {.groups = 2}),
                                      "weight [3, 2, 3, 3], groups 2");
  test::expect_error<InvalidArgument>(conv({3, 8, 8}, {4, 3, 3, 3}),
                                      "got input [3, 8, 8] and weight [4, 3, 3, 3]");
  test::expect_error<InvalidArgument>(
      conv({2, 3, 2, 8}, {4, 3, 5, 5}, {.padding = 1}),
      "larger than the padded image: input [2, 3, 2, 8], weight [4, 3, 5, 5], padding 1");
  test::expect_error<InvalidArgument>(conv({0, 3, 8, 8}, {4, 3, 3, 3}),
                                      "empty batch, image or weight: input [0, 3, 8, 8]");
  test::expect_error<InvalidArgument>(conv({2, 3, 8, 8}, {4, 3, 3, 3}, {.stride = 0}), "got stride 0");
  test::expect_error<InvalidArgument>(
      [] {
        conv2d(Tensor::zeros({1, 1, 3, 3}), Tensor::zeros({2, 1, 3, 3}), Tensor::zeros({3}));
      },
      "expected bias [2] for weight [2, 1, 3, 3], got [3]");
}

}  // namespace

test::OpRows conv2d_rows() {
  return {{.name = "conv2d",
           .checked = op_case({{2, 3, 7, 5}, {4, 3, 3, 3}, {.padding = 1}}),
           .timed =
               [] {
                 return op_case({{32, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}});
               },
           .flops = 2.0 * 32 * 64 * 56 * 56 * 64 * 3 * 3}};
}

}  // namespace lockstep::ops

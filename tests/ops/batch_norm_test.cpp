#include "ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "ops/max_pool2d/max_pool2d.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

int64_t channel_of(const Array& x, int64_t position) {
  const int64_t image = x.count() / (x.shape[0] * x.shape[1]);
  return position / image % x.shape[1];
}

/// Mean and biased variance of each channel.
std::pair<Array, Array> reference_statistics(const Array& x) {
  const int64_t channels = x.shape[1];
  const double values = static_cast<double>(x.count() / channels);
  Array mean = test::full({channels}, 0);
  Array variance = test::full({channels}, 0);
  for (int64_t i = 0; i < x.count(); ++i) mean[channel_of(x, i)] += x[i] / values;
  for (int64_t i = 0; i < x.count(); ++i) {
    const double deviation = x[i] - mean[channel_of(x, i)];
    variance[channel_of(x, i)] += deviation * deviation / values;
  }
  return {mean, variance};
}

Array reference_batch_norm(const std::vector<Array>& inputs, const Array& mean, const Array& variance,
                           const BatchNormOptions& options) {
  Array y = inputs[0];
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t c = channel_of(y, i);
    y[i] = inputs[1][c] * (y[i] - mean[c]) / std::sqrt(variance[c] + options.epsilon) + inputs[2][c];
    if (options.fuse_relu) y[i] = std::max(y[i], 0.0);
  }
  return y;
}

std::vector<Array> random_inputs(const Shape& x) {
  return {test::random_array(x, 4, -3, 5), test::random_array({x[1]}, 5, 0.5, 2),
          test::random_array({x[1]}, 6)};
}

const std::vector<Shape> kShapes = {{4, 3}, {2, 1, 3, 3}, {3, 5, 2, 4}, {1, 16, 3, 3}, {2, 20, 3, 2}};

test::OpCase training_case(const Shape& shape, const BatchNormOptions& options) {
  return {.name = to_text("batch_norm of ", shape, options.fuse_relu ? " and relu" : ""),
          .inputs = random_inputs(shape),
          .run =
              [options](const std::vector<Tensor>& inputs) {
                return batch_norm(inputs[0], inputs[1], inputs[2], options).output;
              },
          .reference =
              [options](const std::vector<Array>& inputs) {
                const auto [mean, variance] = reference_statistics(inputs[0]);
                return reference_batch_norm(inputs, mean, variance, options);
              }};
}

test::OpCase inference_case(const Shape& shape, const BatchNormOptions& options) {
  const Array mean = test::random_array({shape[1]}, 7);
  const Array variance = test::random_array({shape[1]}, 8, 0.5, 2);
  return {.name = to_text("batch_norm_inference of ", shape, options.fuse_relu ? " and relu" : ""),
          .inputs = random_inputs(shape),
          .run =
              [=](const std::vector<Tensor>& inputs) {
                return batch_norm_inference(inputs[0], inputs[1], inputs[2], test::to_tensor(mean),
                                            test::to_tensor(variance), options);
              },
          .reference =
              [=](const std::vector<Array>& inputs) {
                return reference_batch_norm(inputs, mean, variance, options);
              }};
}

TEST(BatchNorm, AgreesWithTheDefinition) {
  for (const bool fuse_relu : {false, true}) {
    for (const Shape& shape : kShapes)
      test::check_op(training_case(shape, {.epsilon = 1e-3, .fuse_relu = fuse_relu}));
  }
}

TEST(BatchNorm, InferenceTakesTheStatisticsAsConstants) {
  for (const bool fuse_relu : {false, true}) {
    for (const Shape& shape : kShapes)
      test::check_op(inference_case(shape, {.epsilon = 1e-3, .fuse_relu = fuse_relu}));
  }
}

TEST(BatchNorm, ReturnsMeanAndBiasedVarianceOutsideTheGraph) {
  Tensor x = Tensor::from<float>({1, 2, 3, 4, 10, 10, 10, 30}, {1, 2, 2, 2});
  x.set_requires_grad(true);
  const BatchNormResult result = batch_norm(x, Tensor::full({2}, 1), Tensor::zeros({2}));
  EXPECT_EQ(result.mean.to_vector<float>(), (std::vector<float>{2.5, 15}));
  EXPECT_EQ(result.variance.to_vector<float>(), (std::vector<float>{1.25, 75}));
  EXPECT_TRUE(result.output.requires_grad());
  EXPECT_FALSE(result.mean.requires_grad());
  EXPECT_FALSE(result.variance.requires_grad());
}

TEST(BatchNorm, AConstantChannelGivesBeta) {
  const BatchNormResult result =
      batch_norm(Tensor::full({2, 1, 2, 2}, 0.5), Tensor::full({1}, 3), Tensor::full({1}, 0.25));
  EXPECT_EQ(result.variance.item(), 0);
  EXPECT_EQ(result.output.to_vector<float>(), std::vector<float>(8, 0.25));
}

/// conv -> batch norm -> pool -> conv, forward and backward: activations stay in the convolutions' layout.
TEST(BatchNorm, BetweenConvolutionsNothingIsReordered) {
  const Tensor image = test::to_tensor(test::random_array({2, 1, 12, 12}, 1));
  Tensor first = test::to_tensor(test::random_array({32, 1, 3, 3}, 2));
  Tensor second = test::to_tensor(test::random_array({64, 32, 3, 3}, 3));
  Tensor gamma = Tensor::full({32}, 1);
  Tensor beta = Tensor::zeros({32});
  for (Tensor* leaf : {&first, &second, &gamma, &beta}) leaf->set_requires_grad(true);
  const auto reorders_of = [](const auto& call) {
    const uint64_t before = onednn::reorder_count();
    call();
    return onednn::reorder_count() - before;
  };
  Tensor h, y;
  const uint64_t first_alone = reorders_of([&] { h = conv2d(image, first, {}, {.padding = 1}); });
  ASSERT_NE(h.layout(), nullptr) << "this machine's library prefers plain memory";
  EXPECT_LE(first_alone, 1U) << "the weight at most";
  EXPECT_EQ(reorders_of([&] { h = max_pool2d(batch_norm(h, gamma, beta, {.fuse_relu = true}).output); }), 0U);
  EXPECT_EQ(reorders_of([&] { y = conv2d(h, second, {}, {.padding = 1}); }), 1U) << "the weight";
  const Tensor seed = Tensor::opaque(y.shape(), DType::kF32, y.layout());
  std::fill_n(static_cast<float*>(seed.raw()), seed.nbytes() / sizeof(float), 1.0F);
  EXPECT_LE(reorders_of([&] { backward(y, {.seed = seed, .between_nodes = {}}); }), 3U)
      << "the second weight and both weights' gradients";
}

TEST(BatchNorm, TakesPlainGradientsForOpaqueInputs) {
  const auto gradients = [](bool opaque) {
    Tensor x = test::to_tensor(test::random_array({2, 20, 4, 4}, 1));
    const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
    Tensor gamma = Tensor::full({20}, 2);
    gamma.set_requires_grad(true);
    const Tensor h = conv2d(x, weight, {});
    const Tensor y = batch_norm(opaque ? h : plain(h), gamma, Tensor::zeros({20})).output;
    EXPECT_EQ(y.layout() != nullptr, opaque);
    backward(y, {.seed = test::to_tensor(test::random_array(y.shape(), 3)), .between_nodes = {}});
    return test::to_array(gamma.grad());
  };
  test::expect_near(gradients(true), gradients(false), 1e-5, "gradient of gamma");
}

TEST(BatchNorm, GivesTheSameBitsTwice) {
  const auto run = [] {
    std::vector<Tensor> inputs;
    for (const Array& input : random_inputs({5, 24, 7, 7})) {
      inputs.push_back(test::to_tensor(input));
      inputs.back().set_requires_grad(true);
    }
    const Tensor y = batch_norm(inputs[0], inputs[1], inputs[2], {.fuse_relu = true}).output;
    backward(y, {.seed = Tensor::full(y.shape(), 0.1), .between_nodes = {}});
    std::vector<std::vector<float>> bits = {y.to_vector<float>()};
    for (const Tensor& input : inputs) bits.push_back(input.grad().to_vector<float>());
    return bits;
  };
  EXPECT_EQ(run(), run());
}

TEST(BatchNorm, ErrorsNameTheShapes) {
  const auto call = [](const Shape& x, int64_t gamma, int64_t beta) {
    return [=] { batch_norm(Tensor::zeros(x), Tensor::zeros({gamma}), Tensor::zeros({beta})); };
  };
  test::expect_error<InvalidArgument>(
      call({2, 3, 4, 4}, 3, 2),
      "[batch_norm] expected gamma and beta [3] for input [2, 3, 4, 4], got gamma [3], beta [2]");
  test::expect_error<InvalidArgument>(
      call({1, 3, 1, 1}, 3, 3),
      "a batch with one value per channel has no variance to train on: input [1, 3, 1, 1]");
  test::expect_error<InvalidArgument>(call({1, 3}, 3, 3), "input [1, 3]");
  test::expect_error<InvalidArgument>(call({0, 3, 4, 4}, 3, 3), "empty batch or image: input [0, 3, 4, 4]");
  test::expect_error<InvalidArgument>(call({2, 3, 4}, 3, 3),
                                      "expected input [n, c, h, w] or [n, c], got [2, 3, 4]");
  const Tensor c = Tensor::zeros({3});
  test::expect_error<InvalidArgument>(
      [&] {
        batch_norm_inference(Tensor::zeros({1, 3}), c, c, c, Tensor::zeros({4}));
      },
      "got mean [3], variance [4]");
}

}  // namespace

test::OpRows batch_norm_rows() {
  return {{.name = "batch_norm",
           .checked = training_case({3, 5, 2, 4}, {}),
           .timed =
               [] {
                 return training_case({32, 64, 56, 56}, {});
               }},
          {.name = "batch_norm_inference", .checked = inference_case({3, 5, 2, 4}, {}), .timed = [] {
             return inference_case({32, 64, 56, 56}, {});
           }}};
}

}  // namespace lockstep::ops

#include "ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "ops/elementwise/elementwise.h"
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

/// Of x, gamma, beta and, where there is a fourth, a residual.
Array reference_batch_norm(const std::vector<Array>& inputs, const Array& mean, const Array& variance,
                           const BatchNormOptions& options) {
  Array y = inputs[0];
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t c = channel_of(y, i);
    y[i] = inputs[1][c] * (y[i] - mean[c]) / std::sqrt(variance[c] + options.epsilon) + inputs[2][c];
    if (inputs.size() > 3) y[i] += inputs[3][i];
    if (options.fuse_relu) y[i] = std::max(y[i], 0.0);
  }
  return y;
}

std::vector<Array> random_inputs(const Shape& x) {
  return {test::random_array(x, 4, -3, 5), test::random_array({x[1]}, 5, 0.5, 2),
          test::random_array({x[1]}, 6)};
}

const std::vector<Shape> kShapes = {{4, 3}, {2, 1, 3, 3}, {3, 5, 2, 4}, {1, 16, 3, 3}, {2, 20, 3, 2}};

enum class Residual { kNone, kGiven };

std::vector<Array> random_inputs(const Shape& x, Residual residual) {
  std::vector<Array> inputs = random_inputs(x);
  if (residual == Residual::kGiven) inputs.push_back(test::random_array(x, 9));
  return inputs;
}

Tensor residual_of(const std::vector<Tensor>& inputs) {
  return inputs.size() > 3 ? inputs[3] : Tensor();
}

std::string name_of(const char* operation, const Shape& shape, const BatchNormOptions& options,
                    Residual residual) {
  return to_text(operation, " of ", shape, residual == Residual::kGiven ? " and residual" : "",
                 options.fuse_relu ? " and relu" : "");
}

test::OpCase training_case(const Shape& shape, const BatchNormOptions& options,
                           Residual residual = Residual::kNone) {
  return {.name = name_of("batch_norm", shape, options, residual),
          .inputs = random_inputs(shape, residual),
          .run =
              [options](const std::vector<Tensor>& inputs) {
                return batch_norm(inputs[0], inputs[1], inputs[2], options, residual_of(inputs)).output;
              },
          .reference =
              [options](const std::vector<Array>& inputs) {
                const auto [mean, variance] = reference_statistics(inputs[0]);
                return reference_batch_norm(inputs, mean, variance, options);
              }};
}

test::OpCase inference_case(const Shape& shape, const BatchNormOptions& options,
                            Residual residual = Residual::kNone) {
  const Array mean = test::random_array({shape[1]}, 7);
  const Array variance = test::random_array({shape[1]}, 8, 0.5, 2);
  return {.name = name_of("batch_norm_inference", shape, options, residual),
          .inputs = random_inputs(shape, residual),
          .run =
              [=](const std::vector<Tensor>& inputs) {
                return batch_norm_inference(inputs[0], inputs[1], inputs[2], test::to_tensor(mean),
                                            test::to_tensor(variance), options, residual_of(inputs));
              },
          .reference =
              [=](const std::vector<Array>& inputs) {
                return reference_batch_norm(inputs, mean, variance, options);
              }};
}

/// Every shape, with and without ReLU and residual.
void check_all(test::OpCase (*make)(const Shape&, const BatchNormOptions&, Residual)) {
  for (const Residual residual : {Residual::kNone, Residual::kGiven}) {
    for (const bool fuse_relu : {false, true}) {
      for (const Shape& shape : kShapes) {
        test::check_op(make(shape, {.epsilon = 1e-3, .fuse_relu = fuse_relu}, residual));
      }
    }
  }
}

TEST(BatchNorm, AgreesWithTheDefinition) {
  check_all(training_case);
}

TEST(BatchNorm, InferenceTakesTheStatisticsAsConstants) {
  check_all(inference_case);
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

/// conv -> batch norm + residual + ReLU -> conv, the residual from another convolution, forward and backward.
TEST(BatchNorm, ResidualsOfConvolutionsAreNotReordered) {
  const Tensor image = test::to_tensor(test::random_array({2, 16, 8, 8}, 1));
  Tensor weights[3];
  for (Tensor& weight : weights) weight = test::to_tensor(test::random_array({16, 16, 3, 3}, 2));
  Tensor gamma = Tensor::full({16}, 1);
  Tensor beta = Tensor::zeros({16});
  for (Tensor* leaf : {&weights[0], &weights[1], &weights[2], &gamma, &beta}) leaf->set_requires_grad(true);
  const auto reorders_of = [](const auto& call) {
    const uint64_t before = onednn::reorder_count();
    call();
    return onednn::reorder_count() - before;
  };
  const Tensor h = conv2d(image, weights[0], {}, {.padding = 1});
  const Tensor shortcut = conv2d(image, weights[1], {}, {.padding = 1});
  ASSERT_NE(h.layout(), nullptr) << "this machine's library prefers plain memory";
  Tensor sum, y;
  EXPECT_EQ(reorders_of([&] { sum = batch_norm(h, gamma, beta, {.fuse_relu = true}, shortcut).output; }), 0U);
  EXPECT_EQ(sum.layout(), h.layout());
  y = conv2d(sum, weights[2], {}, {.padding = 1});
  const Tensor seed = Tensor::opaque(y.shape(), DType::kF32, y.layout());
  std::fill_n(static_cast<float*>(seed.raw()), seed.nbytes() / sizeof(float), 1.0F);
  EXPECT_LE(reorders_of([&] { backward(y, {.seed = seed, .between_nodes = {}}); }), 4U)
      << "the last weight and three gradients of weights";
}

TEST(BatchNorm, AResidualInAnotherLayoutIsTaken) {
  const Tensor image = test::to_tensor(test::random_array({2, 20, 4, 4}, 1));
  const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
  const Tensor opaque = conv2d(image, weight, {});
  ASSERT_NE(opaque.layout(), nullptr) << "this machine's library prefers plain memory";
  const Tensor gamma = Tensor::full({20}, 2);
  const Tensor beta = Tensor::full({20}, -0.5);
  const auto sum = [&](const Tensor& x, Tensor residual) {
    residual = residual.detach();
    residual.set_requires_grad(true);
    const Tensor y = batch_norm(x, gamma, beta, {.fuse_relu = true}, residual).output;
    backward(y, {.seed = test::to_tensor(test::random_array(y.shape(), 3)), .between_nodes = {}});
    return std::pair(test::to_array(y), test::to_array(residual.grad()));
  };
  const auto [values, gradient] = sum(plain(opaque), image);
  const auto [opaque_values, opaque_gradient] = sum(opaque, image);
  const auto [mixed_values, mixed_gradient] = sum(image, opaque);
  test::expect_near(opaque_values, values, 1e-5, "plain residual, opaque input");
  test::expect_near(opaque_gradient, gradient, 1e-5, "its gradient");
  const auto [swapped_values, swapped_gradient] = sum(image, plain(opaque));
  test::expect_near(mixed_values, swapped_values, 1e-5, "opaque residual, plain input");
  test::expect_near(mixed_gradient, swapped_gradient, 1e-5, "its gradient");
}

// As relu() does it.
TEST(BatchNorm, TheGradientPassesWhereTheFusedSumIsNan) {
  const Tensor x = test::to_tensor(test::random_array({2, 2}, 1));
  Tensor residual = Tensor::from<float>({std::nanf(""), 9, -9, 9}, {2, 2});
  residual.set_requires_grad(true);
  const Tensor one = Tensor::full({2}, 1);
  const Tensor y = batch_norm(x, one, Tensor::zeros({2}), {.fuse_relu = true}, residual).output;
  EXPECT_TRUE(std::isnan(y.to_vector<float>()[0]));
  backward(y, {.seed = Tensor::full({2, 2}, 5), .between_nodes = {}});
  EXPECT_EQ(residual.grad().to_vector<float>(), (std::vector<float>{5, 5, 0, 5}));
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

/// Backward writes over a gradient that nobody else holds. Here three branches hold one.
TEST(BatchNorm, AGradientThatOthersNeedIsLeftAlone) {
  const std::vector<Array> inputs = random_inputs({3, 5, 2, 4}, Residual::kGiven);
  const auto gradients = [&](bool shared) {
    std::vector<Tensor> leaves;
    for (const Array& input : inputs) {
      leaves.push_back(test::to_tensor(input));
      leaves.back().set_requires_grad(true);
    }
    const auto branch = [&] {
      return batch_norm(leaves[0], leaves[1], leaves[2], {.fuse_relu = true}, leaves[3]).output;
    };
    const Tensor seed = test::to_tensor(test::random_array(inputs[0].shape, 11));
    if (shared) {
      backward(add(branch(), add(branch(), branch())), {.seed = seed, .between_nodes = {}});
    } else {
      for (int i = 0; i < 3; ++i) backward(branch(), {.seed = seed.clone(), .between_nodes = {}});
    }
    EXPECT_EQ(test::to_array(seed).values, test::random_array(inputs[0].shape, 11).values);
    std::vector<Array> results;
    for (const Tensor& leaf : leaves) results.push_back(test::to_array(leaf.grad()));
    return results;
  };
  const std::vector<Array> alone = gradients(false);
  const std::vector<Array> together = gradients(true);
  for (size_t i = 0; i < alone.size(); ++i)
    test::expect_near(together[i], alone[i], 1e-5, to_text("input ", i));
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

/// Sums are those of fixed parts of the batch.
TEST(BatchNorm, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Array> arrays = random_inputs({4, 24, 40, 40}, Residual::kGiven);
  const auto run = [&](int threads) {
    omp_set_num_threads(threads);
    std::vector<Tensor> inputs;
    for (const Array& input : arrays) {
      inputs.push_back(test::to_tensor(input));
      inputs.back().set_requires_grad(true);
    }
    const Tensor y = batch_norm(inputs[0], inputs[1], inputs[2], {.fuse_relu = true}, inputs[3]).output;
    backward(y, {.seed = Tensor::full(y.shape(), 0.1), .between_nodes = {}});
    std::vector<std::vector<float>> bits = {y.to_vector<float>()};
    for (const Tensor& input : inputs) bits.push_back(input.grad().to_vector<float>());
    return bits;
  };
  const int threads = omp_get_max_threads();
  const auto one = run(1);
  EXPECT_EQ(run(3), one);
  omp_set_num_threads(threads);
}

/// Far from zero a difference of squares would leave nothing of the variance.
TEST(BatchNorm, VarianceSurvivesALargeMean) {
  const Array x = test::random_array({8, 2, 30, 30}, 12, 4096, 4097);
  const auto [mean, variance] = reference_statistics(x);
  const BatchNormResult result = batch_norm(test::to_tensor(x), Tensor::full({2}, 1), Tensor::zeros({2}));
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(result.mean.data<float>()[c], mean[c], 1e-3);
    EXPECT_NEAR(result.variance.data<float>()[c] / variance[c], 1, 1e-3);
  }
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
  test::expect_error<InvalidArgument>(
      [&] {
        batch_norm(Tensor::zeros({2, 3}), c, c, {}, Tensor::zeros({1, 3}));
      },
      "expected a residual of the shape of input [2, 3], got [1, 3]");
}

}  // namespace

test::OpRows batch_norm_rows() {
  static constexpr BatchNormOptions kRelu{.fuse_relu = true};
  return {{.name = "batch_norm",
           .checked = training_case({3, 5, 2, 4}, {}),
           .timed =
               [] {
                 return training_case({32, 64, 56, 56}, {});
               }},
          {.name = "batch_norm + residual + relu",
           .checked = training_case({3, 5, 2, 4}, kRelu, Residual::kGiven),
           .timed =
               [] {
                 return training_case({32, 64, 56, 56}, kRelu, Residual::kGiven);
               }},
          {.name = "batch_norm_inference", .checked = inference_case({3, 5, 2, 4}, {}), .timed = [] {
             return inference_case({32, 64, 56, 56}, {});
           }}};
}

}  // namespace lockstep::ops

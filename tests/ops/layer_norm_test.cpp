#include "ops/layer_norm/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference(const Array& x, const Array& gamma, const Array& beta, double epsilon) {
  const int64_t width = x.shape[-1];
  Array y = x;
  for (int64_t row = 0; row < x.count() / width; ++row) {
    double mean = 0;
    double variance = 0;
    for (int64_t j = 0; j < width; ++j) mean += x[row * width + j] / static_cast<double>(width);
    for (int64_t j = 0; j < width; ++j) {
      variance += std::pow(x[row * width + j] - mean, 2) / static_cast<double>(width);
    }
    for (int64_t j = 0; j < width; ++j) {
      const double normal = (x[row * width + j] - mean) / std::sqrt(variance + epsilon);
      y[row * width + j] = normal * gamma[j] + beta[j];
    }
  }
  return y;
}

test::OpCase op_case(const Shape& shape, double epsilon) {
  const Shape width{shape[-1]};
  return {
      .name = to_text("layer_norm of ", shape),
      .inputs = {test::random_array(shape, 1, -2, 3), test::random_array(width, 2),
                 test::random_array(width, 3)},
      .run = [=](const std::vector<Tensor>& x) { return layer_norm(x[0], x[1], x[2], {.epsilon = epsilon}); },
      .reference = [=](const std::vector<Array>& x) { return reference(x[0], x[1], x[2], epsilon); }};
}

TEST(LayerNorm, AgreesWithTheDefinition) {
  for (const Shape& shape : {Shape{7}, Shape{5, 3}, Shape{2, 3, 17}, Shape{2, 1, 3, 32}, Shape{4, 1}}) {
    for (const double epsilon : {1e-5, 0.1}) test::check_op(op_case(shape, epsilon));
  }
}

TEST(LayerNorm, ScaleAndShiftMayBeLeftOut) {
  const Array x = test::random_array({4, 9}, 1, -2, 3);
  const Array term = test::random_array({9}, 2);
  const Array ones = test::full({9}, 1);
  const Array zeros = test::full({9}, 0);
  test::check_op(
      {.name = "normalised only",
       .inputs = {x},
       .run = [](const std::vector<Tensor>& in) { return layer_norm(in[0]); },
       .reference = [&](const std::vector<Array>& in) { return reference(in[0], ones, zeros, 1e-5); }});
  test::check_op(
      {.name = "scaled only",
       .inputs = {x, term},
       .run = [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1]); },
       .reference = [&](const std::vector<Array>& in) { return reference(in[0], in[1], zeros, 1e-5); }});
  test::check_op(
      {.name = "shifted only",
       .inputs = {x, term},
       .run = [](const std::vector<Tensor>& in) { return layer_norm(in[0], {}, in[1]); },
       .reference = [&](const std::vector<Array>& in) { return reference(in[0], ones, in[1], 1e-5); }});
}

TEST(LayerNorm, KeepsSmallDifferencesBesideALargeMean) {
  const Tensor x = Tensor::from<float>({4096, 4097, 4098, 4099}, {1, 4});
  const auto y = layer_norm(x, {}, {}, {.epsilon = 0}).to_vector<float>();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[static_cast<size_t>(i)], (i - 1.5) / std::sqrt(1.25), 1e-6);
}

TEST(LayerNorm, NanStaysInItsRow) {
  const auto y = layer_norm(Tensor::from<float>({0, std::nanf(""), 1, 2}, {2, 2})).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_TRUE(std::isfinite(y[2]) && std::isfinite(y[3]));
}

TEST(LayerNorm, WritesGradientsIntoTheBoundViews) {
  Tensor x = test::to_tensor(test::random_array({6, 4}, 1));
  Tensor gamma = Tensor::full({4}, 1);
  Tensor beta = Tensor::zeros({4});
  for (Tensor* leaf : {&x, &gamma, &beta}) leaf->set_requires_grad(true);
  const Tensor bucket = Tensor::full({8}, 99);
  gamma.leaf_gradient().bind(bucket.narrow(0, 0, 4));
  beta.leaf_gradient().bind(bucket.narrow(0, 4, 4));
  const Tensor y = layer_norm(x, gamma, beta);
  backward(y, {.seed = Tensor::full({6, 4}, 2), .between_nodes = {}});
  EXPECT_EQ(bucket.narrow(0, 4, 4).to_vector<float>(), std::vector<float>(4, 12));
  EXPECT_TRUE(gamma.grad().same_memory(bucket.narrow(0, 0, 4)));
  for (const float value : x.grad().to_vector<float>()) EXPECT_NEAR(value, 0, 1e-5);
}

TEST(LayerNorm, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads, const Shape& shape) {
    std::vector<float> bits;
    std::thread([&] {  // the team belongs to the thread that asked for it
      configure_compute_threads(threads);
      Tensor leaves[] = {test::to_tensor(test::random_array(shape, 1, -2, 2)),
                         test::to_tensor(test::random_array({shape[-1]}, 2)), Tensor::zeros({shape[-1]})};
      for (Tensor& leaf : leaves) leaf.set_requires_grad(true);
      const Tensor y = layer_norm(leaves[0], leaves[1], leaves[2]);
      backward(y, {.seed = test::to_tensor(test::random_array(shape, 3)), .between_nodes = {}});
      bits = y.to_vector<float>();
      for (const Tensor& leaf : leaves) {
        const auto gradient = leaf.grad().to_vector<float>();
        bits.insert(bits.end(), gradient.begin(), gradient.end());
      }
    })
        .join();
    return bits;
  };
  for (const Shape& shape : {Shape{1000, 96}, Shape{7, 33}, Shape{64, 768}}) {
    const std::vector<float> expected = run(1, shape);
    for (const int threads : {2, 3, 4}) {
      EXPECT_TRUE(run(threads, shape) == expected) << threads << " threads, shape " << shape;
    }
  }
}

TEST(LayerNorm, OpaqueInputsAreUnderstood) {
  const Tensor opaque = test::padded_tensor({1, 2, 3, 1, 5, -2}, {2, 3});
  EXPECT_EQ(layer_norm(opaque).to_vector<float>(),
            layer_norm(Tensor::from<float>({1, 2, 3, 1, 5, -2}, {2, 3})).to_vector<float>());
}

TEST(LayerNorm, ErrorsNameTheShapes) {
  test::expect_error<InvalidArgument>(
      [] {
        layer_norm(Tensor::zeros({2, 3}), Tensor::zeros({2}));
      },
      "[layer_norm] expected gamma and beta [3] for input [2, 3], got [2]");
  test::expect_error<InvalidArgument>(
      [] {
        layer_norm(Tensor::zeros({2, 3}), Tensor::zeros({3}), Tensor::zeros({1, 3}));
      },
      "got [1, 3]");
  test::expect_error<InvalidArgument>([] { layer_norm(Tensor::zeros({0, 3})); }, "got [0, 3]");
  test::expect_error<InvalidArgument>([] { layer_norm(Tensor::zeros({})); }, "got []");
}

}  // namespace

test::OpRows layer_norm_rows() {
  return {{.name = "layer_norm", .checked = op_case({2, 3, 17}, 1e-5), .timed = [] {
             return op_case({4096, 768}, 1e-5);
           }}};
}

}  // namespace lockstep::ops

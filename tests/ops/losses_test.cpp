#include "ops/losses/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

double sum_of(const Array& x) {
  double sum = 0;
  for (const double value : x.values) sum += value;
  return sum;
}

OpCase mse_case(const Shape& shape) {
  return {.name = "mse",
          .inputs = {test::random_array(shape, 1, -2, 2), test::random_array(shape, 2, -2, 2)},
          .run = [](const std::vector<Tensor>& x) { return mse(x[0], x[1]).sum; },
          .reference =
              [](const std::vector<Array>& x) {
                const auto square = [](double a, double b) { return (a - b) * (a - b); };
                return test::full({}, sum_of(test::zip(x[0], x[1], square)));
              },
          .value_tolerance = 1e-6,
          .gradient_tolerance = 1e-6};
}

OpCase bce_case(const Shape& shape) {
  const Array targets = test::random_array(shape, 3, 0, 1);
  return {.name = "bce_with_logits",
          .inputs = {test::random_array(shape, 4, -5, 5)},
          .run = [given = test::to_strided_tensor(targets)](
                     const std::vector<Tensor>& x) { return bce_with_logits(x[0], given).sum; },
          .reference =
              [targets](const std::vector<Array>& x) {
                const auto loss = [](double logit, double target) {
                  const double p = 1 / (1 + std::exp(-logit));
                  return -target * std::log(p) - (1 - target) * std::log(1 - p);
                };
                return test::full({}, sum_of(test::zip(x[0], targets, loss)));
              },
          .value_tolerance = 1e-6,
          .gradient_tolerance = 1e-6};
}

OpCase nll_case(const Shape& shape, const std::vector<int64_t>& targets) {
  return {.name = "nll",
          .inputs = {test::random_array(shape, 5, -5, 0)},
          .run = [given = Tensor::from(targets, {shape[0]})](
                     const std::vector<Tensor>& x) { return nll(x[0], given).sum; },
          .reference =
              [=](const std::vector<Array>& x) {
                double sum = 0;
                for (int64_t row = 0; row < shape[0]; ++row) {
                  const int64_t target = targets[static_cast<size_t>(row)];
                  if (target != -100) sum -= x[0].at({row, target});
                }
                return test::full({}, sum);
              },
          .value_tolerance = 1e-6,
          .gradient_tolerance = 1e-6};
}

TEST(Losses, ValuesAndGradients) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}, Shape{0, 2}}) {
    test::check_op(mse_case(shape));
    test::check_op(bce_case(shape));
  }
  test::check_op(nll_case({3, 4}, {3, 0, 2}));
  test::check_op(nll_case({4, 4}, {-100, 1, -100, 1}));
  test::check_op(nll_case({0, 4}, {}));
}

TEST(Losses, SumsInDoubleAndWeights) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 0.5F}, {2, 2});
  const LossResult squared = mse(a, Tensor::from<float>({0, 4, 3, 1}, {2, 2}));
  EXPECT_EQ(squared.sum_value, 1 + 4 + 0 + 0.25);
  EXPECT_EQ(squared.sum.item(), 5.25);
  EXPECT_EQ(squared.weight, 4) << "every element is an item";

  const LossResult binary = bce_with_logits(Tensor::zeros({3}), Tensor::from<float>({0, 1, 0.5F}, {3}));
  EXPECT_NEAR(binary.sum_value, 3 * std::log(2), 1e-9);
  EXPECT_EQ(binary.weight, 3);

  const LossResult picked =
      nll(Tensor::from<float>({-1, -2, -3, -4, -5, -6}, {3, 2}), Tensor::from<int64_t>({1, -100, 0}, {3}));
  EXPECT_EQ(picked.sum_value, 2 + 5);
  EXPECT_EQ(picked.weight, 2) << "ignored rows are no items";
  EXPECT_EQ(nll(Tensor::zeros({2, 2}), Tensor::from<int64_t>({1, 0}, {2}), 1).weight, 1);
}

TEST(Losses, MseGivesBothGradients) {
  Tensor a = Tensor::from<float>({1, 2}, {2});
  Tensor b = Tensor::from<float>({3, -1}, {2});
  a.set_requires_grad(true);
  b.set_requires_grad(true);
  backward(mse(a, b).sum);
  EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{-4, 6}));
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{4, -6}));
}

TEST(Losses, BinaryCrossEntropyIsStable) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor logits = Tensor::from<float>({1e4F, -1e4F, 3e38F, -kInf}, {4});
  logits.set_requires_grad(true);
  const LossResult right = bce_with_logits(logits, Tensor::from<float>({1, 0, 1, 0}, {4}));
  EXPECT_TRUE(std::isnan(right.sum_value)) << "-inf * 0 is not hidden";
  const Tensor finite = logits.narrow(0, 0, 3);
  EXPECT_EQ(bce_with_logits(finite, Tensor::from<float>({1, 0, 1}, {3})).sum_value, 0);
  EXPECT_EQ(bce_with_logits(finite, Tensor::from<float>({0, 1, 1}, {3})).sum_value, 2e4);
  // A very sure and right answer still has its tiny loss: log(1 + e^-30).
  EXPECT_NEAR(bce_with_logits(Tensor::scalar(30), Tensor::scalar(1)).sum_value, std::exp(-30.0), 1e-19);
  backward(bce_with_logits(logits, Tensor::from<float>({0, 1, 0.5F, 0.25F}, {4})).sum);
  EXPECT_EQ(logits.grad().to_vector<float>(), (std::vector<float>{1, -1, 0.5F, -0.25F}));
}

TEST(Losses, SameBitsOnAnyNumberOfThreads) {
  const Tensor a = test::to_tensor(test::random_array({50001}, 1));
  const Tensor b = test::to_tensor(test::random_array({50001}, 2, 0, 1));
  const auto sums = [&] { return std::pair(mse(a, b).sum_value, bce_with_logits(a, b).sum_value); };
  configure_compute_threads(1);
  const auto one = sums();
  configure_compute_threads(3);
  EXPECT_EQ(sums(), one);
  configure_compute_threads(allowed_cores());
}

TEST(Losses, NanStaysVisible) {
  const Tensor nan = Tensor::full({1}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(mse(nan, Tensor::zeros({1})).sum_value));
  EXPECT_TRUE(std::isnan(bce_with_logits(nan, Tensor::zeros({1})).sum_value));
}

TEST(Losses, OpaqueOperandsAreUnderstood) {
  const Tensor opaque = test::padded_tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(mse(opaque, Tensor::zeros({2, 2})).sum_value, 30);
  EXPECT_EQ(nll(opaque, Tensor::from<int64_t>({0, 1}, {2})).sum_value, -5);
}

TEST(Losses, ErrorsNameShapesPositionsAndValues) {
  const Tensor x = Tensor::zeros({2, 3});
  test::expect_error<InvalidArgument>(
      [&] {
        mse(x, Tensor::zeros({3, 2}));
      },
      "[mse] expected operands of one shape, got [2, 3] and [3, 2]");
  test::expect_error<InvalidArgument>(
      [&] {
        mse(x, Tensor::zeros({2, 3}, DType::kF16));
      },
      "[mse] expected f32, got f16");
  test::expect_error<InvalidArgument>([&] { bce_with_logits(x, Tensor::zeros({3})); },
                                      "[bce_with_logits] expected operands of one shape, got [2, 3] and [3]");
  test::expect_error<InvalidArgument>(
      [&] {
        bce_with_logits(Tensor::zeros({2}), Tensor::from<float>({0, 1.5F}, {2}));
      },
      "[bce_with_logits] target 1 is 1.5: expected one in [0, 1]");
  test::expect_error<InvalidArgument>([&] { nll(x, Tensor::zeros({3}, DType::kI64)); },
                                      "[nll] expected logits [n, classes] and targets [n]");
  test::expect_error<InvalidArgument>(
      [&] {
        nll(x, Tensor::from<int64_t>({0, 3}, {2}));
      },
      "[nll] target of row 1 is 3: expected one in [0, 3) or ignore_index -100");
}

}  // namespace

test::OpRows losses_rows() {
  return {
      {.name = "mse", .checked = mse_case({3, 5}), .timed = [] { return mse_case({1 << 22}); }},
      {.name = "bce_with_logits", .checked = bce_case({3, 5}), .timed = [] { return bce_case({1 << 20}); }},
      {.name = "nll", .checked = nll_case({3, 4}, {3, 0, 2}), .timed = [] {
         return nll_case({4096, 1000}, std::vector<int64_t>(4096, 7));
       }}};
}

}  // namespace lockstep::ops

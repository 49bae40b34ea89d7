#include "ops/cross_entropy/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_loss(const Array& logits, const std::vector<int64_t>& targets,
                     const CrossEntropyOptions& options) {
  const int64_t classes = logits.shape[1];
  double total = 0;
  for (int64_t row = 0; row < logits.shape[0]; ++row) {
    const int64_t target = targets[static_cast<size_t>(row)];
    if (target == options.ignore_index) continue;
    double sum = 0;
    for (int64_t j = 0; j < classes; ++j) sum += std::exp(logits.at({row, j}));
    double spread = 0;
    for (int64_t j = 0; j < classes; ++j) spread -= logits.at({row, j}) - std::log(sum);
    total -= (1 - options.label_smoothing) * (logits.at({row, target}) - std::log(sum));
    total += options.label_smoothing / static_cast<double>(classes) * spread;
  }
  return test::full({}, total);
}

Tensor targets_of(const std::vector<int64_t>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

test::OpCase op_case(const Shape& logits, const std::vector<int64_t>& targets,
                     const CrossEntropyOptions& options) {
  return {
      .name = "cross_entropy",
      .inputs = {test::random_array(logits, 8, -3, 3)},
      .run =
          [=](const std::vector<Tensor>& x) { return cross_entropy(x[0], targets_of(targets), options).sum; },
      .reference = [=](const std::vector<Array>& x) { return reference_loss(x[0], targets, options); },
      .value_tolerance = 1e-6,
      .gradient_tolerance = 1e-6};
}

TEST(CrossEntropy, ValuesAndGradients) {
  const std::vector<std::pair<std::vector<int64_t>, CrossEntropyOptions>> cases = {
      {{0, 4, 2}, {}},
      {{0, 4, 2}, {.label_smoothing = 0.1}},
      {{0, 4, 2}, {.label_smoothing = 1}},
      {{-100, 1, -100}, {}},
      {{3, 1, 2}, {.label_smoothing = 0.2, .ignore_index = 1}},
  };
  for (const auto& [targets, options] : cases) {
    test::check_op(op_case({3, 5}, targets, options));
  }
  test::check_op(op_case({1, 1050}, {1030}, {.label_smoothing = 0.1}));
}

TEST(CrossEntropy, KnownValues) {
  // PyTorch 1.13: cross_entropy([[1,2,3],[1,5,-2]], [2,0], reduction='sum') and with label_smoothing=0.1
  const Tensor logits = Tensor::from<float>({1, 2, 3, 1, 5, -2}, {2, 3});
  const LossResult plain_loss = cross_entropy(logits, targets_of({2, 0}));
  EXPECT_NEAR(plain_loss.sum_value, 4.426651, 2e-6);
  EXPECT_EQ(plain_loss.sum.item(), static_cast<float>(plain_loss.sum_value));
  EXPECT_EQ(plain_loss.weight, 2);
  EXPECT_NEAR(cross_entropy(logits, targets_of({2, 0}), {.label_smoothing = 0.1}).sum_value, 4.493318, 2e-6);
}

TEST(CrossEntropy, ExtremeLogitsAreStable) {
  const Tensor logits = Tensor::from<float>({1e4F, -1e4F, 0, -3e38F, 3e38F, 0}, {2, 3});
  EXPECT_EQ(cross_entropy(logits, targets_of({0, 1})).sum_value, 0);
  EXPECT_EQ(cross_entropy(logits.narrow(0, 0, 1), targets_of({1})).sum_value, 2e4);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor masked = Tensor::from<float>({0, 0, -kInf}, {1, 3});
  masked.set_requires_grad(true);
  const LossResult loss = cross_entropy(masked, targets_of({0}));
  EXPECT_NEAR(loss.sum_value, std::log(2), 1e-12);
  backward(loss.sum);
  EXPECT_EQ(masked.grad().to_vector<float>(), (std::vector<float>{-0.5, 0.5, 0}));
}

TEST(CrossEntropy, IgnoredRowsLeaveNoTrace) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor logits = Tensor::from<float>({nan, nan, 0, 0}, {2, 2});
  logits.set_requires_grad(true);
  const LossResult loss = cross_entropy(logits, targets_of({-100, 1}));
  EXPECT_EQ(loss.weight, 1);
  EXPECT_NEAR(loss.sum_value, std::log(2), 1e-12);
  backward(loss.sum);
  EXPECT_EQ(logits.grad().to_vector<float>(), (std::vector<float>{0, 0, 0.5, -0.5}));
}

TEST(CrossEntropy, NothingValidGivesZeroWithoutNan) {
  for (const int64_t rows : {0, 2}) {
    Tensor logits = Tensor::zeros({rows, 3});
    logits.set_requires_grad(true);
    const LossResult loss = cross_entropy(logits, Tensor::full({rows}, -100, DType::kI64));
    EXPECT_EQ(loss.weight, 0);
    EXPECT_EQ(loss.sum_value, 0);
    EXPECT_EQ(loss.sum.item(), 0);
    backward(loss.sum);
    EXPECT_EQ(logits.grad().to_vector<float>(), std::vector<float>(static_cast<size_t>(rows * 3), 0));
  }
}

TEST(CrossEntropy, NanLogitsGiveNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(cross_entropy(Tensor::from<float>({0, nan}, {1, 2}), targets_of({0})).sum_value));
  EXPECT_TRUE(std::isnan(cross_entropy(Tensor::from<float>({nan, 0}, {1, 2}), targets_of({1})).sum_value));
}

TEST(CrossEntropy, SumsOfMicroBatchesAddUpToTheWholeBatch) {
  // One row and three rows: divided once by the total weight, they weigh 1/4 each, not 1/2 and 1/6.
  const test::Array values = test::random_array({4, 5}, 9, -2, 2);
  const std::vector<int64_t> targets{1, 0, 4, 2};
  Tensor whole = test::to_tensor(values);
  whole.set_requires_grad(true);
  const LossResult all = cross_entropy(whole, targets_of(targets));
  backward(all.sum);

  Tensor leaf = test::to_tensor(values);
  leaf.set_requires_grad(true);
  double sum_value = 0;
  double weight = 0;
  std::vector<float> gradient;
  for (const auto& [start, length] : std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 3}}) {
    Tensor part = leaf.detach().narrow(0, start, length);
    part.set_requires_grad(true);
    const LossResult loss = cross_entropy(part, targets_of(targets).narrow(0, start, length));
    backward(loss.sum);
    sum_value += loss.sum_value;
    weight += loss.weight;
    const std::vector<float> values_of_part = part.grad().to_vector<float>();
    gradient.insert(gradient.end(), values_of_part.begin(), values_of_part.end());
  }
  EXPECT_EQ(weight, 4);
  EXPECT_NEAR(sum_value / weight, all.sum_value / all.weight, 1e-12);
  EXPECT_EQ(gradient, whole.grad().to_vector<float>());
}

TEST(CrossEntropy, GradientOfASumIsWeightedByItems) {
  // y = w x at w = 0, loss 0.5 (w x - y)^2 over (1,1) (2,2) (3,3) and, apart, (4,4): the mean's gradient is
  // -7.5.
  Tensor w = Tensor::scalar(0);
  w.set_requires_grad(true);
  for (const std::vector<float>& xs : {std::vector<float>{1, 2, 3}, std::vector<float>{4}}) {
    const Tensor x = Tensor::from(xs, {static_cast<int64_t>(xs.size())});
    backward(scale(sum(square(sub(mul(w, x), x))), 0.5));
  }
  EXPECT_EQ(w.grad().item() / 4, -7.5);
}

// More classes than are in the first-level cache at a time; the second pass gives up the only handle on the
// logits, so that the gradient takes their memory.
TEST(CrossEntropy, GradientIsTheSameInTheMemoryOfTheLogits) {
  const auto gradient = [](bool keep) {
    Tensor leaf = test::to_tensor(test::random_array({2, 2500}, 3, -4, 4));
    leaf.set_requires_grad(true);
    Tensor logits = scale(leaf, 2);
    const Tensor sum = cross_entropy(logits, targets_of({1100, 2499})).sum;
    const std::vector<float> before = logits.to_vector<float>();
    if (!keep) logits = Tensor();
    backward(sum);
    if (keep) {
      EXPECT_EQ(logits.to_vector<float>(), before);
    }
    return leaf.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

TEST(CrossEntropy, ErrorsNameRowValueAndShapes) {
  const Tensor logits = Tensor::zeros({2, 3});
  for (const int64_t wrong : {int64_t{3}, int64_t{-1}}) {
    try {
      cross_entropy(logits, targets_of({0, wrong}));
      FAIL() << "target " << wrong << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), to_text("[cross_entropy] target of row 1 is ", wrong,
                                      ": expected one in [0, 3) or ignore_index -100"));
    }
  }
  EXPECT_THROW(cross_entropy(logits, targets_of({0})), InvalidArgument);
  EXPECT_THROW(cross_entropy(logits, targets_of({0, 0}), {.label_smoothing = 1.5}), InvalidArgument);
  EXPECT_THROW(cross_entropy(logits, Tensor::zeros({2})), InvalidArgument);
}

TEST(CrossEntropy, OpaqueLogitsAreUnderstood) {
  const Tensor opaque = test::padded_tensor({1, 2, 3, 1, 5, -2}, {2, 3});
  EXPECT_NEAR(cross_entropy(opaque, targets_of({2, 0})).sum_value, 4.426651, 2e-6);
}

}  // namespace

test::OpRows cross_entropy_rows() {
  return {{.name = "cross_entropy", .checked = op_case({3, 5}, {0, 4, 2}, {}), .timed = [] {
             return op_case({4096, 1000}, std::vector<int64_t>(4096, 7), {});
           }}};
}

}  // namespace lockstep::ops

#include "train/objective.h"

#include <gtest/gtest.h>

#include "runtime/named_rows.h"

namespace lockstep::train {
namespace {

data::Batch batch_of(const std::vector<float>& targets, int64_t bad_samples) {
  data::Batch batch;
  const auto count = static_cast<int64_t>(targets.size());
  batch.inputs = Tensor::zeros({count, 1});
  batch.targets = Tensor::from(targets, {count, 1});
  batch.bad_samples = bad_samples;
  return batch;
}

const Objective kRegression(find_row("loss", losses(), "mse"), {},
                            {find_row("metric", metrics(), "absolute_error")});

TEST(Objective, MeansAreOverAllItemsNotOverMicroBatches) {
  std::vector<double> sums(kRegression.width(), 0);
  const auto zeros = [](int64_t count) { return Tensor::zeros({count, 1}); };
  EXPECT_EQ(kRegression.measure(batch_of({2}, 0), zeros(1), sums).item(), 4);
  kRegression.measure(batch_of({1, 1, 2}, 2), zeros(3), sums);
  const Measured means = kRegression.means(sums);
  EXPECT_EQ(means.loss, (4.0 + 1 + 1 + 4) / 4);
  EXPECT_EQ(means.weight, 4);
  EXPECT_EQ(means.bad_samples, 2);
  ASSERT_EQ(means.metrics.size(), 1U);
  EXPECT_EQ(means.metrics[0], std::pair(std::string("absolute_error"), 6.0 / 4));
}

TEST(Objective, WithoutItemsThereIsNoNan) {
  const Measured means = kRegression.means(std::vector<double>(kRegression.width(), 0));
  EXPECT_EQ(means.loss, 0);
  EXPECT_EQ(means.metrics[0].second, 0);
}

TEST(Objective, EvaluationHasNoLabelSmoothing) {
  const LossRow loss = find_row("loss", losses(), "cross_entropy");
  const Objective smoothed(loss, {.label_smoothing = 0.5}, {});
  data::Batch batch;
  batch.targets = Tensor::from<int64_t>({0}, {1});
  const Tensor logits = Tensor::from<float>({2, 0}, {1, 2});
  std::vector<double> training(smoothed.width(), 0);
  std::vector<double> evaluation(smoothed.width(), 0);
  smoothed.measure(batch, logits, training);
  smoothed.for_evaluation().measure(batch, logits, evaluation);
  EXPECT_NEAR(smoothed.means(training).loss, smoothed.means(evaluation).loss + 0.5, 1e-6);
}

TEST(Objective, AnOutputInBf16IsMeasuredInF32) {
  std::vector<double> sums(kRegression.width(), 0);
  const Tensor output = Tensor::full({1, 1}, 1, DType::kBF16);
  const float target = 1.001F;  // which bf16 cannot tell from 1
  const Tensor loss = kRegression.measure(batch_of({target}, 0), output, sums);
  EXPECT_EQ(loss.dtype(), DType::kF32);
  EXPECT_EQ(loss.item(), double{(1 - target) * (1 - target)});
}

}  // namespace
}  // namespace lockstep::train

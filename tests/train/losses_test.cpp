#include "train/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/named_rows.h"

namespace lockstep::train {
namespace {

ops::LossResult loss_of(const char* name, const Tensor& output, const Tensor& target,
                        const LossOptions& options = {}) {
  return find_row("loss", losses(), name).compute(output, target, options);
}

double metric_of(const char* name, const Tensor& output, const Tensor& target) {
  return find_row("metric", metrics(), name).sum(output, target);
}

// Two samples of two positions each, three classes.
const Tensor kLogits = Tensor::from<float>({9, 0, 0, 0, 9, 0, 0, 0, 9, 9, 0, 0}, {2, 2, 3});

TEST(Losses, CrossEntropyTakesSequences) {
  const Tensor targets = Tensor::from<int64_t>({0, 1, -100, 1}, {2, 2});
  const auto result = loss_of("cross_entropy", kLogits, targets);
  EXPECT_EQ(result.weight, 3);
  const double likely = std::log(1 + 2 * std::exp(-9.0));
  EXPECT_NEAR(result.sum_value, likely + likely + (likely + 9), 1e-5);
  EXPECT_EQ(metric_of("accuracy", kLogits, targets), 2);
}

TEST(Losses, LabelSmoothingIsPassedOn) {
  const Tensor logits = Tensor::from<float>({2, 0}, {1, 2});
  const Tensor target = Tensor::from<int64_t>({0}, {1});
  const double sharp = loss_of("cross_entropy", logits, target).sum_value;
  EXPECT_NEAR(loss_of("cross_entropy", logits, target, {.label_smoothing = 0.5}).sum_value, sharp + 0.5,
              1e-6);
}

TEST(Losses, RegressionCountsElements) {
  const Tensor output = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  const Tensor target = Tensor::from<float>({1, 1, 1, 1}, {2, 2});
  const auto squared = loss_of("mse", output, target);
  EXPECT_EQ(squared.sum_value, 0 + 1 + 4 + 9);
  EXPECT_EQ(squared.weight, 4);
  EXPECT_EQ(metric_of("absolute_error", output, target), 6);
  EXPECT_NEAR(loss_of("bce_with_logits", output, target).sum_value,
              std::log1p(std::exp(-1)) + std::log1p(std::exp(-2)) + std::log1p(std::exp(-3)) +
                  std::log1p(std::exp(-4)),
              1e-5);
}

TEST(Losses, Top5CountsTheFiveGreatest) {
  const Tensor logits = Tensor::from<float>({7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1}, {2, 7});
  EXPECT_EQ(metric_of("top5_accuracy", logits, Tensor::from<int64_t>({4, 5}, {2})), 1);
}

TEST(Losses, AProgramsOwnComeAfterThem) {
  const std::vector<LossRow> own{{"mine", nullptr}};
  EXPECT_EQ(losses(own).back().name, std::string("mine"));
  EXPECT_EQ(losses(own).size(), losses().size() + 1);
}

}  // namespace
}  // namespace lockstep::train

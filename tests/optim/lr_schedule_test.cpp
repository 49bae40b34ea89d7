#include "optim/lr_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optim/table.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

TEST(LrSchedule, WarmUpReachesExactlyTheFullRateWhateverFollows) {
  for (const std::string& name : schedule_names()) {
    const ScheduleOptions options{
        .lr = 3.2, .total_steps = 900, .warmup_steps = 50, .warmup_start = 1.0 / 32};
    const LrSchedule lr = make_schedule(name, options);
    EXPECT_DOUBLE_EQ(lr(0), 0.1 + 3.1 / 50) << name;
    EXPECT_DOUBLE_EQ(lr(24), (0.1 + 3.2) / 2) << name;
    EXPECT_EQ(lr(49), 3.2) << name;
    EXPECT_EQ(lr(50), 3.2) << name;
    for (int64_t step = 1; step < 50; ++step) {
      EXPECT_NEAR(lr(step) - lr(step - 1), 3.1 / 50, 1e-14) << name << " step " << step;
    }
  }
}

TEST(LrSchedule, ConstantStays) {
  const LrSchedule lr = make_schedule("constant", {.lr = 0.5, .total_steps = 10});
  for (const int64_t step : {0, 5, 10, 1000}) EXPECT_EQ(lr(step), 0.5);
}

TEST(LrSchedule, MilestonesAreAbsoluteSteps) {
  const LrSchedule lr = make_schedule(
      "multi_step",
      {.lr = 8, .total_steps = 90, .warmup_steps = 5, .milestones = {30, 60, 80}, .gamma = 0.25});
  EXPECT_EQ(lr(29), 8);
  EXPECT_EQ(lr(30), 2);
  EXPECT_EQ(lr(59), 2);
  EXPECT_EQ(lr(60), 0.5);
  EXPECT_EQ(lr(80), 0.125);
  EXPECT_EQ(lr(500), 0.125);
}

TEST(LrSchedule, PolynomialEndsAtItsEnd) {
  const LrSchedule lr =
      make_schedule("polynomial", {.lr = 8, .total_steps = 20, .warmup_steps = 4, .power = 2, .end_lr = 4});
  EXPECT_EQ(lr(4), 8);
  EXPECT_EQ(lr(12), 5);  // half way: a quarter of the way is left
  EXPECT_EQ(lr(20), 4);
  EXPECT_EQ(lr(21), 4);
}

TEST(LrSchedule, CosineEndsAtItsEnd) {
  const LrSchedule lr = make_schedule("cosine", {.lr = 3, .total_steps = 24, .warmup_steps = 4, .end_lr = 1});
  EXPECT_EQ(lr(4), 3);
  EXPECT_DOUBLE_EQ(lr(14), 2);
  EXPECT_DOUBLE_EQ(lr(9), 2 + std::sqrt(0.5));
  EXPECT_EQ(lr(24), 1);
  EXPECT_EQ(lr(1000), 1);
}

// The curve is a matter of optimizer steps: 800 samples, 10 per rank and micro-batch, 5 epochs.
TEST(LrSchedule, PeaksAndEndsByOptimizerStepsOnAnyWorldSize) {
  struct Run {
    int64_t ranks, accumulation, steps;
  };
  for (const auto& [ranks, accumulation, steps] :
       {Run{1, 1, 400}, Run{4, 1, 100}, Run{4, 3, 35}, Run{1, 3, 135}}) {
    const int64_t global_batch = 10 * ranks * accumulation;
    const int64_t total = steps_of(5, (800 + global_batch - 1) / global_batch);
    ASSERT_EQ(total, steps);
    const int64_t warmup = total / 10;
    const LrSchedule lr = make_schedule("cosine", {.lr = 1, .total_steps = total, .warmup_steps = warmup});
    EXPECT_LT(lr(warmup - 2), 1);
    EXPECT_EQ(lr(warmup - 1), 1) << "the peak belongs to step number " << warmup;
    EXPECT_LT(lr(warmup + 1), 1);
    EXPECT_GT(lr(total - 1), 0) << "no step is wasted";
    EXPECT_LT(lr(total - 1), 0.003) << "about 0 in the last step";
    EXPECT_EQ(lr(total), 0);
  }
}

TEST(LrSchedule, AWarmUpLongerThanTheTrainingJustClimbs) {
  const LrSchedule lr = make_schedule("cosine", {.lr = 1, .total_steps = 4, .warmup_steps = 8});
  EXPECT_EQ(lr(3), 0.5);
  EXPECT_EQ(lr(7), 1);
  EXPECT_EQ(lr(8), 0);
}

TEST(LrSchedule, EpochsBecomeStepsByRounding) {
  EXPECT_EQ(steps_of(5, 235), 1175);
  EXPECT_EQ(steps_of(0.5, 235), 118);
  EXPECT_EQ(steps_of(0.1, 235), 24);
  EXPECT_EQ(steps_of(0, 235), 0);
}

TEST(LrSchedule, OptionsOutOfRangeAreNamed) {
  const auto construct = [](const ScheduleOptions& options) {
    return [=] { LrSchedule lr(constant, options); };
  };
  test::expect_error<ConfigError>(construct({.lr = std::numeric_limits<double>::infinity()}), "lr: expected");
  test::expect_error<ConfigError>(construct({.total_steps = -1}),
                                  "total_steps: expected a number >= 0, got -1");
  test::expect_error<ConfigError>(construct({.warmup_steps = -1}), "warmup_steps: expected");
  test::expect_error<ConfigError>(construct({.warmup_start = 1.5}), "from 0 to 1, got 1.5");
  test::expect_error<ConfigError>(construct({.milestones = {10, 9}}),
                                  "milestones: expected steps in increasing order, got 9");
  test::expect_error<ConfigError>(construct({.milestones = {-1}}), "milestones: expected");
  test::expect_error<ConfigError>(construct({.gamma = -1}), "gamma: expected");
  test::expect_error<ConfigError>(construct({.power = 0}), "power: expected a number > 0, got 0");
  test::expect_error<ConfigError>(construct({.end_lr = -1}), "end_lr: expected");
}

}  // namespace
}  // namespace lockstep::optim

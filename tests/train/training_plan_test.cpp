#include "train/training_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

TEST(TrainingPlan, TheLastBatchOfAnEpochIsShort) {
  const TrainingPlan plan({.samples = 10, .global_batch = 4, .epochs = 2});
  EXPECT_EQ(plan.steps_per_epoch(), 3);
  EXPECT_EQ(plan.total_steps(), 6);
  Position position;
  const int64_t batches[] = {4, 4, 2, 4, 4, 2};
  int64_t seen = 0;
  for (const int64_t batch : batches) {
    EXPECT_FALSE(plan.finished(position));
    EXPECT_EQ(plan.batch_at(position), batch);
    seen += batch;
    position = plan.after(position);
  }
  EXPECT_TRUE(plan.finished(position));
  EXPECT_EQ(position, (Position{6, 2, 0, 20}));
  EXPECT_EQ(seen, 20);
}

TEST(TrainingPlan, DropLastLeavesTheRestOut) {
  const TrainingPlan plan({.samples = 10, .global_batch = 4, .epochs = 1, .drop_last = true});
  EXPECT_EQ(plan.total_steps(), 2);
  EXPECT_EQ(plan.after({1, 0, 4, 4}), (Position{2, 1, 0, 8}));
}

TEST(TrainingPlan, StepsDoNotDependOnRanks) {  // 800 samples, 5 epochs: 400 steps of 10, 100 steps of 40
  EXPECT_EQ(TrainingPlan({.samples = 800, .global_batch = 10, .epochs = 5}).total_steps(), 400);
  EXPECT_EQ(TrainingPlan({.samples = 800, .global_batch = 40, .epochs = 5}).total_steps(), 100);
}

TEST(TrainingPlan, MaxStepsEndsTheRunEarlyOrAlone) {
  EXPECT_EQ(TrainingPlan({.samples = 10, .global_batch = 4, .epochs = 2, .max_steps = 4}).total_steps(), 4);
  EXPECT_EQ(TrainingPlan({.samples = 10, .global_batch = 4, .max_steps = 100}).total_steps(), 100);
}

std::string refusal(const TrainingPlanOptions& options) {
  try {
    TrainingPlan plan(options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TrainingPlan, RefusesARunWithoutSteps) {
  EXPECT_NE(refusal({.samples = 7, .global_batch = 8, .epochs = 1, .drop_last = true})
                .find("0 steps per epoch: the data has 7 samples, global_batch is 8"),
            std::string::npos);
  EXPECT_EQ(refusal({.samples = 7, .global_batch = 8, .epochs = 1}), "accepted");
  EXPECT_NE(refusal({.samples = 0, .global_batch = 8, .epochs = 1}).find("0 samples"), std::string::npos);
  EXPECT_NE(refusal({.samples = 7, .global_batch = 8}).find("both are 0"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::train

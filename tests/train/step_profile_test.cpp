#include "train/step_profile.h"

#include <gtest/gtest.h>

#include "tests/train/profile_events.h"

namespace lockstep::train {
namespace {

using profile::Category;
using profile::Event;

/// One step of 100 ms from `start` on: 10 ms of data in 40 ms of forward, 30 of backward, 5, 15; two
/// convolutions forward, one with a part, and a gradient.
std::vector<Event> step_from(int64_t start, int64_t extra) {
  const profile::Work work{.operations = 1e6, .bytes = 1e3};
  std::vector<Event> events{
      made_up(Category::kStep, "step", start, start + 100 + extra),
      made_up(Category::kPhase, "forward", start, start + 40),
      made_up(Category::kPhase, "data", start, start + 10),
      operation(Category::kForward, "conv2d", start + 10, start + 20, "conv1", work),
      operation(Category::kForward, "conv2d", start + 20, start + 36, "conv2", work),
      operation(Category::kForward, "plain", start + 21, start + 23, "conv2", work),
      made_up(Category::kPhase, "backward", start + 40, start + 70),
      operation(Category::kBackward, "conv2d", start + 40, start + 60, "conv2", work),
      made_up(Category::kPhase, "communication", start + 70, start + 75),
      made_up(Category::kPhase, "optimizer", start + 75, start + 90),
  };
  events[5].nested = true;
  return events;
}

std::vector<Event> two_steps() {
  std::vector<Event> events = step_from(0, 0);
  events.push_back(made_up(Category::kOther, "evaluation", 100, 200));
  events.push_back(operation(Category::kForward, "conv2d", 110, 190, "conv1", {}));
  for (const Event& event : step_from(200, 10)) events.push_back(event);
  return events;
}

TEST(StepProfile, PhasesExcludeEachOtherAndAddUpToTheStep) {
  const StepProfile result = summarize(two_steps());
  ASSERT_EQ(result.steps.size(), 2U);
  EXPECT_NEAR(result.steps[0], 0.1, 1e-12);
  EXPECT_NEAR(result.steps[1], 0.11, 1e-12);
  const std::vector<std::pair<std::string, std::vector<double>>> expected{
      {"data", {0.01, 0.01}},        {"forward", {0.03, 0.03}},
      {"backward", {0.03, 0.03}},    {"communication", {0.005, 0.005}},
      {"optimizer", {0.015, 0.015}}, {"other", {0.01, 0.02}}};
  ASSERT_EQ(result.phases.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(result.phases[i].name, expected[i].first);
    ASSERT_EQ(result.phases[i].seconds.size(), 2U);
    for (size_t step = 0; step < 2; ++step)
      EXPECT_NEAR(result.phases[i].seconds[step], expected[i].second[step], 1e-12) << expected[i].first;
  }
}

TEST(StepProfile, OperationsAreSummedByPassWithTheirCostliestLayer) {
  const StepProfile result = summarize(two_steps());
  ASSERT_EQ(result.operations.size(), 2U) << "a part is no row of its own";
  const OperationCost& forward = result.operations[0];
  EXPECT_EQ(forward.name, "conv2d");
  EXPECT_FALSE(forward.backward);
  EXPECT_EQ(forward.calls, 2);
  EXPECT_NEAR(forward.seconds, 0.026, 1e-12) << "that of the evaluation does not count";
  EXPECT_EQ(forward.work.operations, 2e6);
  EXPECT_EQ(forward.work.bytes, 2e3);
  EXPECT_EQ(forward.layer, "conv2");
  EXPECT_NEAR(forward.layer_seconds, 0.016, 1e-12);
  EXPECT_TRUE(result.operations[1].backward);
  EXPECT_EQ(result.work.operations, 3e6);
  EXPECT_EQ(result.work.bytes, 3e3);
}

TEST(StepProfile, WithoutStepsThereIsNothing) {
  const StepProfile result = summarize({made_up(Category::kPhase, "forward", 0, 10)});
  EXPECT_TRUE(result.steps.empty());
  EXPECT_TRUE(result.operations.empty());
  EXPECT_EQ(result.phases.size(), 6U);
}

TEST(StepProfile, Median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace lockstep::train

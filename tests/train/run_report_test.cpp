#include "train/run_report.h"

#include <gtest/gtest.h>

#include "tests/train/small_run.h"
#include "tests/train/temporary_folder.h"
#include "train/metrics_file.h"

namespace lockstep::train {
namespace {

class RunReportTest : public ::testing::Test {
 protected:
  RunReportTest() : config_(small_run()), plan_({.samples = 50, .global_batch = 16, .epochs = 2}) {}

  void report_steps(RunReport& report, Position& position, int64_t until) {
    while (position.step < until) {
      position = plan_.after(position);
      StepReport step;
      step.position = position;
      step.measured.loss = 1.0 / static_cast<double>(position.step);
      report.step(step);
    }
  }

  std::vector<int64_t> steps() const {
    std::vector<int64_t> found;
    for (const MetricsLine& line : read_metrics(folder_.path("metrics.jsonl"))) found.push_back(line.step);
    return found;
  }

  TemporaryFolder folder_;
  TrainConfig config_;
  TrainingPlan plan_;
};

TEST_F(RunReportTest, WritesALinePerStepAndEvaluation) {
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  report_steps(report, position, 4);
  report.evaluation(position, {.loss = 0.5, .metrics = {{"accuracy", 0.75}}, .weight = 21});
  const auto lines = read_metrics(folder_.path("metrics.jsonl"));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[1].fields["loss"], 0.5);
  EXPECT_EQ(lines[1].fields["epoch"], 1);
  EXPECT_EQ(lines[3].fields["samples"], 50);
  EXPECT_EQ(lines[3].fields["epoch"], 1) << "the step that ends an epoch belongs to it";
  EXPECT_EQ(lines[4].fields["eval_accuracy"], 0.75);
  EXPECT_EQ(lines[4].fields["eval_count"], 21);
}

TEST_F(RunReportTest, AResumedRunGoesOnWhereItsCheckpointIs) {
  {
    RunReport report(config_, plan_);
    Position position;
    report.open(folder_.path(), position);
    report_steps(report, position, 6);
  }
  RunReport report(config_, plan_);
  report.add_wall_time(100);
  Position position{3, 0, 48, 48};
  report.open(folder_.path(), position);
  EXPECT_EQ(steps(), (std::vector<int64_t>{1, 2, 3}));
  report_steps(report, position, 5);
  EXPECT_EQ(steps(), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_GE(report.wall_time(), 100);
}

TEST_F(RunReportTest, WritesEveryFewStepsAndAlwaysTheLast) {
  config_.mutable_metrics()->set_every(3);
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  report_steps(report, position, 8);
  EXPECT_EQ(steps(), (std::vector<int64_t>{3, 6, 8}));
}

}  // namespace
}  // namespace lockstep::train

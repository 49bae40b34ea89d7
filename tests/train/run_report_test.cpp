#include "train/run_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/train/event_records.h"
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
      step.measured.metrics = {{"accuracy", 0.5}};
      report.step(step);
    }
  }

  std::vector<int64_t> steps() const {
    std::vector<int64_t> found;
    for (const MetricsLine& line : read_metrics(folder_.path("metrics.jsonl"))) found.push_back(line.step);
    return found;
  }

  std::vector<std::string> event_files() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("events"))) {
      paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  static std::map<std::string, float> scalars_of(const tensorboard::Event& event) {
    std::map<std::string, float> scalars;
    for (const auto& value : event.summary().value()) scalars[value.tag()] = value.simple_value();
    return scalars;
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

TEST_F(RunReportTest, ThePhasesOfALinesStepsAddUpToItsTime) {
  using std::chrono::milliseconds;
  config_.mutable_metrics()->set_every(2);
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  for (int step = 1; step <= 4; ++step) {
    position = plan_.after(position);
    report.step({.position = position,
                 .measured = {},
                 .times = {milliseconds(50), milliseconds(30), milliseconds(4)},
                 .optimizer = milliseconds(2),
                 .data_wait = milliseconds(10 * step),
                 .weights = {}});
  }
  const auto lines = read_metrics(folder_.path("metrics.jsonl"));
  ASSERT_EQ(lines.size(), 2U);
  int64_t samples = 0;
  for (const MetricsLine& line : lines) {
    const auto field = [&](const char* name) { return line.fields[name].get<double>(); };
    EXPECT_DOUBLE_EQ(field("data_seconds"), 0.02);
    EXPECT_DOUBLE_EQ(field("forward_seconds"), 0.08) << "without the waiting for data in it";
    EXPECT_DOUBLE_EQ(field("backward_seconds"), 0.06);
    EXPECT_DOUBLE_EQ(field("communication_seconds"), 0.008);
    EXPECT_DOUBLE_EQ(field("optimizer_seconds"), 0.004);
    const double time = (field("samples") - static_cast<double>(samples)) / field("samples_per_second");
    EXPECT_NEAR(field("other_seconds"), time - 0.02 - 0.08 - 0.06 - 0.008 - 0.004, 1e-12);
    EXPECT_GT(field("memory_bytes"), 1 << 20);
    EXPECT_GE(field("peak_memory_bytes"), field("memory_bytes"));
    samples = line.fields["samples"];
  }
}

TEST_F(RunReportTest, TellsTheLossScaleOfARunThatHasOne) {
  config_.mutable_loss_scaling()->set_mode(TrainConfig::LossScaling::DYNAMIC);
  RunReport report(config_, plan_);
  report.open(folder_.path(), {});
  report.step({.position = plan_.after({}),
               .measured = {},
               .loss_scale = 65536,
               .skipped_steps = 3,
               .times = {},
               .weights = {}});
  const auto lines = read_metrics(folder_.path("metrics.jsonl"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].fields["loss_scale"], 65536);
  EXPECT_EQ(lines[0].fields["skipped_steps"], 3);
  report.evaluation(plan_.after({}), {});  // which hands TensorBoard's file to the system
  const auto scalars = scalars_of(read_event_file(event_files().at(0)).at(2));
  EXPECT_EQ(scalars.at("train/loss_scale"), 65536);
  EXPECT_EQ(scalars.at("train/skipped_steps"), 3);
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

TEST_F(RunReportTest, TellsTensorBoardTheSame) {
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  report_steps(report, position, 4);
  report.evaluation(position, {.loss = 0.5, .metrics = {{"accuracy", 0.75}}, .weight = 21});
  const auto events = read_event_file(event_files().at(0));
  ASSERT_EQ(events.size(), 7U) << "version, start, four steps, evaluation; flushed with the evaluation";
  EXPECT_EQ(events[1].step(), 1);
  EXPECT_EQ(events[3].step(), 2);
  EXPECT_EQ(scalars_of(events[3]).at("train/loss"), 0.5);
  for (const char* tag : {"train/lr", "train/accuracy", "train/samples_per_second"}) {
    EXPECT_TRUE(scalars_of(events[3]).contains(tag)) << tag;
  }
  EXPECT_EQ(events[6].step(), 4);
  EXPECT_EQ(scalars_of(events[6]),
            (std::map<std::string, float>{{"eval/accuracy", 0.75F}, {"eval/loss", 0.5F}}));
}

TEST_F(RunReportTest, AResumedRunHidesTheStepsThatItRepeats) {
  {
    RunReport report(config_, plan_);
    Position position;
    report.open(folder_.path(), position);
    report_steps(report, position, 6);
  }
  RunReport report(config_, plan_);
  Position resumed{3, 0, 48, 48};
  report.open(folder_.path(), resumed);
  EXPECT_EQ(event_files().size(), 1U) << "nothing has been measured yet";
  report_steps(report, resumed, 6);
  const auto files = event_files();
  ASSERT_EQ(files.size(), 2U);
  const auto start = read_event_file(files[1]).at(1);
  EXPECT_EQ(start.session_log().status(), tensorboard::SessionLog::START);
  EXPECT_EQ(start.step(), 4) << "the first that it does again";
}

TEST_F(RunReportTest, TensorBoardAndCurvesCanBeSwitchedOff) {
  config_.mutable_metrics()->set_tensorboard(false);
  config_.mutable_metrics()->set_curves(false);
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  report_steps(report, position, 8);
  report.evaluation(position, {});
  report.finish(folder_.path());
  EXPECT_FALSE(std::filesystem::exists(folder_.path("events")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("curves.gnuplot")));
}

TEST_F(RunReportTest, TheEndHasItsCurves) {
  config_.mutable_metrics()->set_curves(true);
  RunReport report(config_, plan_);
  Position position;
  report.open(folder_.path(), position);
  report_steps(report, position, 8);
  report.finish(folder_.path());
  EXPECT_TRUE(std::filesystem::exists(folder_.path("curves.png")));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("curves.svg")));
}

TEST_F(RunReportTest, AFinishedRunThatIsOpenedAgainHasNothingToTellTensorBoard) {
  RunReport report(config_, plan_);
  report.open(folder_.path(), {8, 2, 0, 100});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("events")));
}

}  // namespace
}  // namespace lockstep::train

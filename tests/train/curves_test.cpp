#include "train/curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/train/temporary_folder.h"
#include "train/metrics.h"

namespace lockstep::train {
namespace {

using std::chrono::milliseconds;

class CurvesTest : public ::testing::Test {
 protected:
  /// The metrics of a run whose loss at a step is loss(step); an evaluation every 10 steps.
  void write_metrics(int64_t steps, double (*loss)(int64_t)) {
    MetricsWriter metrics(run_.metrics());
    for (int64_t step = 1; step <= steps; ++step) {
      StepRecord record;
      record.step = step;
      record.loss = loss(step);
      record.lr = 0.1;
      record.other = {{"accuracy", 0.5}};
      metrics.write(record);
      if (step % 10 == 0)
        metrics.write(EvaluationRecord{.step = step, .loss = 0.25, .metrics = {{"accuracy", 0.75}}});
    }
  }

  std::string program() const { return curves_program(read_metrics(run_.metrics()), "a run"); }

  std::string content(const std::string& name) const {
    std::ifstream file(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// A program that stands in for gnuplot.
  std::string script(const std::string& commands) const {
    const std::string path = folder_.path("program");
    std::ofstream(path) << "#!/bin/sh\n" << commands << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  bool nothing_drawn() const {
    return !std::filesystem::exists(folder_.path("curves.svg")) &&
           !std::filesystem::exists(folder_.path("curves.png"));
  }

  TemporaryFolder folder_;
  RunDirectory run_{folder_.path()};
};

/// The lines of a data block.
std::vector<std::string> block(const std::string& program, const std::string& name) {
  const size_t begin = program.find(name + " << END\n") + name.size() + 8;
  std::istringstream text(program.substr(begin, program.find("END\n", begin) - begin));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

double one_over(int64_t step) {
  return 1 / static_cast<double>(step);
}

TEST_F(CurvesTest, GnuplotDrawsThem) {
  write_metrics(40, one_over);
  ASSERT_TRUE(draw_curves(run_, {.title = "a \"run\" with \\ and 'this'"}));
  EXPECT_EQ(content("curves.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  const std::string svg = content("curves.svg");
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  for (const char* text :
       {"a \"run\" with \\ and 'this'", "loss", "accuracy", "learning rate", "optimizer step", "training",
        "evaluation (last: 0.25)", "evaluation (last: 0.75)"}) {
    std::string escaped;
    for (const char c : std::string(text)) {
      escaped += c == '"' ? "&quot;" : c == '\'' ? "&apos;" : std::string(1, c);
    }
    EXPECT_TRUE(svg.find(text) != std::string::npos || svg.find(escaped) != std::string::npos) << text;
  }
}

TEST_F(CurvesTest, OneStepWithoutEvaluationIsEnough) {
  std::ofstream(run_.metrics()) << R"({"step":1,"loss":2.5,"lr":0})" << '\n';
  EXPECT_TRUE(draw_curves(run_, {.title = "one"}));
  EXPECT_EQ(block(program(), "$training"), (std::vector<std::string>{"1 2.5 2.5 2.5 0"}));
  EXPECT_EQ(program().find("accuracy"), std::string::npos);
}

TEST_F(CurvesTest, WhateverEvaluationsMeasureHasAPanel) {
  std::ofstream(run_.metrics())
      << R"({"step":1,"loss":2,"mean_error":5,"data_seconds":1,"lr":0.5})" << '\n'
      << R"({"step":1,"eval_loss":3,"eval_mean_error":4,"eval_count":9,"eval_bad_samples":1})" << '\n';
  EXPECT_EQ(block(program(), "$training"), (std::vector<std::string>{"1 2 2 2 5 5 5 0.5"}));
  EXPECT_EQ(block(program(), "$evaluation"), (std::vector<std::string>{"1 3 4"}));
  EXPECT_TRUE(draw_curves(run_, {.title = "regression"}));
  EXPECT_NE(content("curves.svg").find("mean_error"), std::string::npos);
}

TEST_F(CurvesTest, ShortRunsAreDrawnStepByStep) {
  write_metrics(20, [](int64_t step) { return static_cast<double>(step); });
  const auto training = block(program(), "$training");
  ASSERT_EQ(training.size(), 20U);
  EXPECT_EQ(training[2], "3 3 3 3 0.5 0.5 0.5 0.1");
  EXPECT_EQ(block(program(), "$evaluation"), (std::vector<std::string>{"10 0.25 0.75", "20 0.25 0.75"}));
}

TEST_F(CurvesTest, LongRunsAreDrawnAsMeanAndRangeOfSpans) {
  write_metrics(2 * kCurvePoints, [](int64_t step) { return static_cast<double>(step); });
  const auto training = block(program(), "$training");
  ASSERT_EQ(training.size(), kCurvePoints);
  EXPECT_EQ(training.front(), "1 1.5 1 2 0.5 0.5 0.5 0.1");
  EXPECT_EQ(training.back(), "499 499.5 499 500 0.5 0.5 0.5 0.1");
}

TEST_F(CurvesTest, ValuesThatAreNotFiniteAreLeftOut) {
  write_metrics(2 * kCurvePoints, [](int64_t step) {
    return step % 2 == 0 || step > 400 ? std::numeric_limits<double>::infinity() : 3.0;
  });
  const auto training = block(program(), "$training");
  EXPECT_EQ(training.front(), "1 3 3 3 0.5 0.5 0.5 0.1");
  EXPECT_EQ(training.back(), "499 NaN NaN NaN 0.5 0.5 0.5 0.1");
  EXPECT_TRUE(draw_curves(run_, {.title = "diverged"}));
}

TEST_F(CurvesTest, WithoutGnuplotThereIsALogLine) {
  write_metrics(3, one_over);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(draw_curves(run_, {.title = "t", .gnuplot = {.program = "lockstep-has-no-such-program"}}));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "no curves were drawn; lockstep-has-no-such-program: not found"),
            std::string::npos);
  EXPECT_TRUE(nothing_drawn());
  EXPECT_FALSE(content("curves.gnuplot").empty()) << "to be drawn elsewhere";
}

TEST_F(CurvesTest, AGnuplotThatHangsIsGivenUp) {
  write_metrics(3, one_over);
  const auto start = std::chrono::steady_clock::now();
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(draw_curves(
      run_, {.title = "t", .gnuplot = {.program = script("exec sleep 60"), .deadline = milliseconds(100)}}));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("did not end within 100 ms"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(CurvesTest, AGnuplotThatFailsSaysWhy) {
  write_metrics(3, one_over);
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(
      draw_curves(run_, {.title = "t", .gnuplot = {.program = script("echo unknown terminal >&2; exit 1")}}));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("status 1: unknown terminal"), std::string::npos);
}

TEST_F(CurvesTest, NoStepsOrNoMetricsIsNoError) {
  EXPECT_FALSE(draw_curves(run_, {.title = "no metrics"}));
  std::ofstream(run_.metrics()) << "";
  EXPECT_FALSE(draw_curves(run_, {.title = "empty"}));
  EXPECT_TRUE(nothing_drawn());
}

}  // namespace
}  // namespace lockstep::train

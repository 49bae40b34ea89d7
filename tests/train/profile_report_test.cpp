#include "train/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::train {
namespace {

using testing::HasSubstr;

/// Peaks of 100 GFLOP/s and 10 GB/s.
ProfiledRun profiled_run() {
  return {.peaks = {.flops = 100e9, .bandwidth = 10e9, .instructions = "AVX2"}, .ranks = 2, .threads = 3};
}

StepProfile small_profile() {
  StepProfile profile;
  profile.steps = {0.1, 0.3};
  profile.phases = {{"data", {0.01, 0.03}}, {"forward", {0.09, 0.27}}};
  profile.operations = {
      {.name = "conv2d",
       .backward = true,
       .calls = 4,
       .seconds = 0.1,
       .work = {.operations = 5e9, .bytes = 1e8},
       .layer = "layer1.conv",
       .layer_seconds = 0.025},
      {.name = "relu", .calls = 2, .seconds = 0.01, .work = {.operations = 0, .bytes = 9e7}}};
  profile.work = {.operations = 5e9, .bytes = 1.9e8};
  return profile;
}

TEST(ProfileReport, TheRooflineIsTheNearerCeiling) {
  const MachinePeaks peaks = profiled_run().peaks;
  EXPECT_DOUBLE_EQ(share_of_roofline({.operations = 5e9, .bytes = 1e8}, 0.1, peaks), 0.5);  // arithmetic
  EXPECT_DOUBLE_EQ(share_of_roofline({.operations = 0, .bytes = 9e7}, 0.01, peaks), 0.9);   // memory
  EXPECT_EQ(share_of_roofline({}, 0, peaks), 0);
}

TEST(ProfileReport, TablesNameTheCostliestOperationsBesideThePeaks) {
  const std::vector<std::string> lines = profile_tables(small_profile(), profiled_run());
  EXPECT_THAT(lines[0], HasSubstr("rank 0 of 2"));
  EXPECT_THAT(lines[0], HasSubstr("3 threads: 100.0 GFLOP/s (AVX2), 10.0 GB/s"));
  EXPECT_EQ(
      lines[1],
      "operation           pass        calls        ms    share  GFLOP/s    GB/s roofline  costliest layer");
  EXPECT_EQ(
      lines[2],
      "conv2d              backward        4   100.000   50.0 %     50.0     1.0      50 %  layer1.conv "
      "(25 %)");
  EXPECT_EQ(lines[3],
            "relu                forward         2    10.000    5.0 %        -     9.0      90 %  -");
  EXPECT_THAT(lines[4], HasSubstr("median and range of 2 steps"));
  EXPECT_EQ(lines[6], "data              20.000    10.000 .. 30.000      10.0 %");
  EXPECT_EQ(lines.back(), "step             200.000   100.000 .. 300.000    100.0 %");
}

TEST(ProfileReport, TablesShowTenOperations) {
  StepProfile profile = small_profile();
  const size_t shorter = profile_tables(profile, profiled_run()).size();
  while (profile.operations.size() < 12) profile.operations.push_back(profile.operations.back());
  EXPECT_EQ(profile_tables(profile, profiled_run()).size(), shorter + 8);
}

TEST(ProfileReport, WithoutStepsItSaysSo) {
  EXPECT_EQ(profile_tables({}, profiled_run()), std::vector<std::string>{"no step was profiled"});
}

TEST(ProfileReport, FiguresForPrograms) {
  const nlohmann::ordered_json figures = profile_figures(small_profile(), profiled_run());
  EXPECT_EQ(figures["peak_flops"], 100e9);
  EXPECT_EQ(figures["memory_bandwidth"], 10e9);
  EXPECT_EQ(figures["flops_per_step"], 5e9);
  EXPECT_EQ(figures["bytes_per_step"], 1.9e8);
  EXPECT_EQ(figures["steps"], 2);
  EXPECT_EQ(figures["threads"], 3);
  EXPECT_EQ(figures["ranks"], 2);
  EXPECT_EQ(figures["phases"]["data"], 0.02);
  EXPECT_EQ(figures["operations"][0]["name"], "conv2d");
  EXPECT_EQ(figures["operations"][0]["pass"], "backward");
  EXPECT_EQ(figures["operations"][1]["pass"], "forward");
}

}  // namespace
}  // namespace lockstep::train

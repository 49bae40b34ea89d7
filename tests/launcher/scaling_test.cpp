#include "launcher/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Of a run whose steps of `seconds` are one half forward and one half backward.
train::MetricsLine step_line(int64_t step, int64_t samples, double seconds) {
  train::MetricsLine line;
  line.step = step;
  line.fields = {{"step", step},
                 {"samples", samples},
                 {"data_seconds", 0},
                 {"forward_seconds", seconds / 2},
                 {"backward_seconds", seconds / 2},
                 {"communication_seconds", 0},
                 {"optimizer_seconds", 0},
                 {"other_seconds", 0},
                 {"peak_memory_bytes", 1e6 + static_cast<double>(step)}};
  return line;
}

RunFigures speed(double samples_per_second) {
  RunFigures figures;
  figures.samples_per_second = samples_per_second;
  figures.phases = {0.5, 1, 2, 0.25, 0.125, 0.0625};
  figures.peak_memory = 3 << 20;
  return figures;
}

TEST(Scaling, WeakWorkGrowsWithTheRanksAndStrongWorkStays) {
  EXPECT_EQ(scaling_case(ScalingMode::kWeak, 4, 32), (ScalingCase{.ranks = 4, .global_batch = 128}));
  EXPECT_EQ(scaling_case(ScalingMode::kStrong, 4, 32), (ScalingCase{.ranks = 4, .global_batch = 32}));
}

TEST(Scaling, OnlyStepsAfterTheWarmupCount) {
  train::MetricsLine evaluation;
  evaluation.step = 4;
  evaluation.fields = {{"step", 4}, {"eval_loss", 2}};
  const std::vector<train::MetricsLine> lines{step_line(1, 10, 8), step_line(2, 20, 4), step_line(3, 30, 2),
                                              step_line(4, 50, 1), evaluation};
  const RunFigures figures = figures_of(lines, 2);
  EXPECT_EQ(figures.samples_per_second, 10);
  EXPECT_EQ(figures.phases[1], 0.75) << "per step";
  EXPECT_EQ(figures.step_seconds(), 1.5);
  EXPECT_EQ(figures.peak_memory, 1000004);
  EXPECT_EQ(figures_of(lines, 0).samples_per_second, 50.0 / 15);
  EXPECT_THROW(figures_of(lines, 4), DataError);
}

TEST(Scaling, ARowIsTheRunInTheMiddleComparedWithTheFirstRow) {
  const ScalingCase one{1, 8};
  const ScalingCase three{3, 24};
  const ScalingRuns runs{{one, {speed(120), speed(80), speed(100)}},
                         {three, {speed(400), speed(150), speed(240), speed(270)}}};
  const auto rows = scaling_rows({one, three}, runs);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].middle.samples_per_second, 100);
  EXPECT_EQ(rows[0].least, 80);
  EXPECT_EQ(rows[0].greatest, 120);
  EXPECT_EQ(rows[0].efficiency, 1);
  EXPECT_EQ(rows[1].middle.samples_per_second, 240) << "the slower of the two in the middle";
  EXPECT_EQ(rows[1].efficiency, 0.8);
  EXPECT_EQ(scaling_rows({three}, runs)[0].efficiency, 1) << "the first, whatever its ranks";
}

TEST(Scaling, TheTableIsMarkdownInColumns) {
  const ScalingRuns runs{{{1, 8}, {speed(50)}}, {{2, 16}, {speed(75)}}};
  const ScalingSeries series{ScalingMode::kWeak, scaling_rows({{1, 8}, {2, 16}}, runs)};
  const std::string table = scaling_table(series, 1, 2);
  EXPECT_THAT(table,
              HasSubstr("| ranks | batch | samples/s | slowest to fastest | efficiency | ms per step | "
                        "  data | forward | backward | communication | optimizer | other | peak memory |"));
  EXPECT_THAT(table,
              HasSubstr("|     2 |    16 |     75.00 |     75.00 to 75.00 |     75.0 % |     3937.50 | "
                        "500.00 | 1000.00 |  2000.00 |        250.00 |    125.00 | 62.50 |       3 MiB |"));
  EXPECT_THAT(table, Not(HasSubstr("share")));
  EXPECT_THAT(table, HasSubstr("\n|------:|------:|"));
}

TEST(Scaling, RowsWhoseRanksShareCoresAreMarked) {
  const ScalingRuns runs{{{1, 8}, {speed(50)}}, {{2, 16}, {speed(75)}}};
  const ScalingSeries series{ScalingMode::kWeak, scaling_rows({{1, 8}, {2, 16}}, runs)};
  const std::string table = scaling_table(series, 2, 3);
  EXPECT_THAT(table, HasSubstr("|   2 * |"));
  EXPECT_THAT(table, HasSubstr("|     1 |"));
  EXPECT_THAT(table, HasSubstr("\\* more threads than the 3 cores"));
}

}  // namespace
}  // namespace lockstep::launcher

#include "launcher/scaling_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "train/gnuplot.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

std::vector<ScalingSeries> measured() {
  const auto run = [](double speed) {
    RunFigures figures;
    figures.samples_per_second = speed;
    return figures;
  };
  const ScalingRuns runs{
      {{2, 8}, {run(100), run(90), run(120)}}, {{6, 24}, {run(240)}}, {{6, 8}, {run(150)}}};
  return {{ScalingMode::kWeak, scaling_rows({{2, 8}, {6, 24}}, runs)},
          {ScalingMode::kStrong, scaling_rows({{2, 8}, {6, 8}}, runs)}};
}

TEST(ScalingPlot, HoldsMedianRangeAndIdeal) {
  const std::string program = scaling_plot(measured(), "a model");
  EXPECT_THAT(program, HasSubstr("$weak << END\n2 100 90 120 100\n6 240 240 240 300\nEND\n"));
  EXPECT_THAT(program, HasSubstr("$strong << END\n2 100 90 120 100\n6 150 150 150 300\nEND\n"));
  EXPECT_THAT(program, HasSubstr("set xtics (2, 6)"));
}

TEST(ScalingPlot, GnuplotDrawsIt) {
  const std::string folder = testing::TempDir() + "lockstep-scaling-plot-test";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(train::draw(folder, "scaling", scaling_plot(measured(), "a \"model\""), {}), "");
  std::ifstream file(folder + "/scaling.svg");
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  for (const char* text : {"samples/s", "ranks", "weak scaling", "strong scaling", "ideal (strong)"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_TRUE(std::filesystem::exists(folder + "/scaling.png"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lockstep::launcher

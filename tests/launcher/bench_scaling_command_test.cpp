#include "launcher/bench_scaling_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/launcher/small_run.h"
#include "tests/support/expect_error.h"

namespace lockstep::launcher {
namespace {

/// What can be told without starting a run; the real thing is a system test.
class BenchScaling : public ::testing::Test {
 protected:
  BenchScaling() { std::filesystem::remove_all(options_.output); }
  ~BenchScaling() override { std::filesystem::remove_all(options_.output); }

  BenchScalingOptions options_{.recipe = small_run() + "/config.textproto",
                               .ranks = {1},
                               .output = testing::TempDir() + "lockstep-bench-scaling-test"};
};

TEST_F(BenchScaling, RanksThatTheRecipeDoesNotAllowAreRefusedBeforeAnythingRuns) {
  options_.ranks = {1, 32};
  test::expect_error<ConfigError>([&] { bench_scaling_command(options_, {}); }, "virtual_ranks");
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(BenchScaling, MeasurementsAreNotMixed) {
  std::filesystem::create_directories(options_.output);
  std::ofstream(options_.output + "/scaling.jsonl") << "{}\n";
  test::expect_error<ConfigError>([&] { bench_scaling_command(options_, {}); }, "holds measurements already");
}

TEST_F(BenchScaling, AnUnknownRecipeIsAnsweredWithTheKnownOnes) {
  options_.recipe = "fashion_mist";
  test::expect_error<ConfigError>([&] { bench_scaling_command(options_, {}); }, "fashion_mnist");
}

}  // namespace
}  // namespace lockstep::launcher

#include "train/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

Tuning::Entry entry_of(int ranks, const std::string& algorithm) {
  Tuning::Entry entry;
  entry.set_ranks(ranks);
  entry.set_ranks_per_machine(ranks);
  entry.set_algorithm(algorithm);
  entry.set_measured("today, here");
  return entry;
}

class TuningTest : public ::testing::Test {
 protected:
  TuningTest() { std::filesystem::remove(path_); }
  ~TuningTest() override { std::filesystem::remove(path_); }

  std::string resolved(int ranks, int ranks_per_machine) {
    TrainConfig config = config_;
    note_ = resolve_tuning(config, {ranks, ranks_per_machine});
    return config.comm().algorithm();
  }

  std::string path_ = testing::TempDir() + "lockstep-tuning-test.textproto";
  TrainConfig config_ = [this] {
    TrainConfig config = default_config();
    config.mutable_comm()->set_tuning(path_);
    return config;
  }();
  std::string note_;
};

TEST_F(TuningTest, TheEntryOfTheLayoutBecomesTheAlgorithm) {
  write_tuning(path_, entry_of(2, "direct:0-4K;halving_doubling:4K-"));
  write_tuning(path_, entry_of(4, "halving_doubling"));
  EXPECT_EQ(resolved(2, 2), "direct:0-4K;halving_doubling:4K-");
  EXPECT_THAT(note_, HasSubstr("as measured today, here"));
  EXPECT_EQ(resolved(4, 4), "halving_doubling");
}

TEST_F(TuningTest, ALaterMeasurementReplacesTheEarlier) {
  write_tuning(path_, entry_of(2, "direct"));
  write_tuning(path_, entry_of(4, "recursive_doubling"));
  write_tuning(path_, entry_of(2, "halving_doubling"));
  EXPECT_EQ(resolved(2, 2), "halving_doubling");
  EXPECT_EQ(resolved(4, 4), "recursive_doubling");
}

TEST_F(TuningTest, AutoStaysForOtherLayouts) {
  write_tuning(path_, entry_of(4, "direct"));
  EXPECT_EQ(resolved(2, 2), "auto");
  EXPECT_THAT(note_, HasSubstr("nothing for 2 ranks"));
  EXPECT_EQ(resolved(4, 2), "auto");
  EXPECT_EQ(resolved(1, 1), "auto");
  EXPECT_EQ(note_, "");
}

TEST_F(TuningTest, AnAlgorithmThatIsGivenWins) {
  write_tuning(path_, entry_of(2, "direct"));
  config_.mutable_comm()->set_algorithm("halving_doubling");
  EXPECT_EQ(resolved(2, 2), "halving_doubling");
}

TEST_F(TuningTest, WhatItCannotUseIsAnError) {
  test::expect_error<ConfigError>([&] { resolved(2, 2); }, "cannot read");
  write_tuning(path_, entry_of(2, "ring"));
  test::expect_error<ConfigError>([&] { resolved(2, 2); }, "REPRODUCIBLE");
  std::ofstream(path_) << "comm { algorithm: \"auto\" }\n";
  test::expect_error<ConfigError>([&] { resolved(2, 2); }, "lockstep-tuning-test.textproto:1:");
  test::expect_error<ConfigError>([&] { write_tuning(path_, entry_of(2, "direct")); }, "no field named");
}

}  // namespace
}  // namespace lockstep::train

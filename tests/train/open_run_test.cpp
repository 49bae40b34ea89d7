#include "train/open_run.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "runtime/log.h"
#include "tests/support/expect_error.h"
#include "tests/train/temporary_folder.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

class OpenRunTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  void save(const std::string& run, int64_t step) {
    Checkpoint checkpoint;
    checkpoint.model = {{"w", Tensor::zeros({2})}};
    checkpoint.state.set_step(step);
    save_checkpoint(path(run) + "/checkpoints", checkpoint);
    std::ofstream(path(run) + "/metrics.jsonl") << "{}\n";
  }

  TemporaryFolder folder_;
  TrainConfig config_ = default_config();
};

TEST_F(OpenRunTest, ANewRunGetsItsConfiguration) {
  EXPECT_EQ(open_run(path("a/b"), "", config_).checkpoint, "");
  EXPECT_EQ(config_text(load_config(path("a/b/config.textproto"), "")), config_text(config_));
}

TEST_F(OpenRunTest, WhatHappensFromNowOnIsInItsLog) {
  save("run", 3);
  save("run", 4);
  fs::remove(path("run/checkpoints/step-00000004/state.pb"));
  open_run(path("run"), "latest", config_);
  log::warning("something later");
  std::ifstream file(path("run/train.log"));
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(log.find("passed over a damaged checkpoint"), std::string::npos) << log;
  EXPECT_NE(log.find("something later"), std::string::npos) << log;
}

TEST_F(OpenRunTest, TheDirectoryIsLocked) {
  const OpenedRun first = open_run(path("run"), "", config_);
  EXPECT_THROW(RunLock(path("run"), std::chrono::milliseconds(0)), ConfigError);
}

TEST_F(OpenRunTest, ARunThatEndsMeanwhileIsNotOverwritten) {
  auto other = std::make_unique<RunLock>(make_run_directory(path("run")).root);
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream(path("run/metrics.jsonl")) << "{}\n";
    other.reset();
  });
  test::expect_error<ConfigError>([&] { open_run(path("run"), "", config_); }, "holds a run");
  end.join();
}

TEST_F(OpenRunTest, AnExistingRunIsNotOverwritten) {
  save("run", 3);
  test::expect_error<ConfigError>([&] { open_run(path("run"), "", config_); }, "--resume latest");
  save("other", 5);
  test::expect_error<ConfigError>([&] { open_run(path("run"), path("other"), config_); }, "holds a run");
}

TEST_F(OpenRunTest, LatestIsTheNewestUndamagedOneOrANewStart) {
  EXPECT_EQ(open_run(path("run"), "latest", config_).checkpoint, "");
  save("run", 3);
  save("run", 4);
  EXPECT_EQ(open_run(path("run"), "latest", config_).checkpoint, path("run/checkpoints/step-00000004"));
  fs::resize_file(path("run/checkpoints/step-00000004/model.safetensors"), 10);
  EXPECT_EQ(open_run(path("run"), "latest", config_).checkpoint, path("run/checkpoints/step-00000003"));
}

TEST_F(OpenRunTest, ACheckpointOrARunCanBeNamed) {
  save("run", 3);
  save("run", 4);
  const std::string third = path("run/checkpoints/step-00000003");
  EXPECT_EQ(open_run(path("copy"), third, config_).checkpoint, third);
  EXPECT_EQ(open_run(path("run"), third, config_).checkpoint, third)
      << "back to an earlier point of the same run";
  EXPECT_EQ(open_run(path("copy2"), path("run"), config_).checkpoint, path("run/checkpoints/step-00000004"));
  test::expect_error<DataError>([&] { open_run(path("copy3"), path("nowhere"), config_); }, "nowhere");
}

TEST_F(OpenRunTest, AFileInTheWayIsNamed) {
  std::ofstream(path("file")) << "x";
  test::expect_error<ConfigError>([&] { open_run(path("file/run"), "", config_); }, path("file/run"));
}

TEST_F(OpenRunTest, NamesOfNewRunsAreNotTaken) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const std::string name = new_run_name("recipes/mine.textproto");
  EXPECT_EQ(name.rfind("runs/mine-", 0), 0U);
  fs::create_directories(name);
  EXPECT_NE(new_run_name("recipes/mine.textproto"), name) << "within the same second";
  fs::current_path(before);
}

}  // namespace
}  // namespace lockstep::train

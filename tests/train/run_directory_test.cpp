#include "train/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "runtime/error.h"
#include "tests/train/temporary_folder.h"
#include "train/checkpoint.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class E, class Call>
std::string error_text(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

std::string save(const std::string& folder, int64_t step) {
  Checkpoint checkpoint;
  checkpoint.model = {{"w", Tensor::scalar(1)}};
  checkpoint.state.set_step(step);
  return save_checkpoint(folder, checkpoint);
}

TEST(RunDirectory, IsMadeWithItsParents) {
  const TemporaryFolder folder;
  const RunDirectory run = make_run_directory(folder.path("runs/a"));
  EXPECT_TRUE(fs::is_directory(run.root));
  EXPECT_EQ(run.metrics(), folder.path("runs/a/metrics.jsonl"));
  EXPECT_NO_THROW(make_run_directory(run.root)) << "it may be there already";
  EXPECT_NO_THROW(check_holds_no_run(run)) << "an empty folder holds no run";
}

TEST(RunDirectory, ANewRunDoesNotMixWithAnOldOne) {
  for (const char* name : {"metrics.jsonl", "model.safetensors", "checkpoints"}) {
    const TemporaryFolder folder;
    std::ofstream(folder.path(name)) << "old";
    const std::string text = error_text<ConfigError>([&] { check_holds_no_run({folder.path()}); });
    EXPECT_THAT(text, HasSubstr("\"" + folder.path() + "\" holds a run already"));
    EXPECT_THAT(text, HasSubstr(name));
    EXPECT_THAT(text, HasSubstr("--resume latest"));
    EXPECT_NO_THROW(make_run_directory(folder.path()));
  }
}

TEST(RunDirectory, APlaceWhereNoneCanBeIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "in the way";
  EXPECT_THAT(error_text<ConfigError>([&] { make_run_directory(folder.path("file/run")); }),
              HasSubstr("cannot make the folder \"" + folder.path("file/run")));
}

TEST(RunLock, IsHeldByOneRunAtATime) {
  const TemporaryFolder folder;
  {
    const RunLock first(folder.path());
    EXPECT_THAT(
        error_text<ConfigError>([&] { const RunLock second(folder.path(), std::chrono::milliseconds(10)); }),
        HasSubstr("\"" + folder.path() + "\" is in use by another run"));
  }
  EXPECT_NO_THROW(RunLock(folder.path(), std::chrono::milliseconds(0)));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(RunLock, WaitsForARunThatIsEnding) {
  const TemporaryFolder folder;
  auto ending = std::make_unique<RunLock>(folder.path());
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ending.reset();
  });
  EXPECT_NO_THROW(RunLock(folder.path()));
  end.join();
}

TEST(ResumePoint, IsTheNewestOfARunOrOfAFolderOrTheCheckpointItself) {
  const TemporaryFolder folder;
  const RunDirectory run = make_run_directory(folder.path("run"));
  const std::string first = save(run.checkpoints(), 1);
  const std::string second = save(run.checkpoints(), 2);
  EXPECT_EQ(find_resume_point(run.root).checkpoint, second);
  EXPECT_EQ(find_resume_point(run.checkpoints()).checkpoint, second);
  EXPECT_EQ(find_resume_point(first).checkpoint, first);
  EXPECT_THAT(find_resume_point(run.root).damaged, IsEmpty());
}

TEST(ResumePoint, PassesOverADamagedOneAndSaysSo) {
  const TemporaryFolder folder;
  const std::string first = save(folder.path(), 1);
  const std::string second = save(folder.path(), 2);
  fs::remove(second + "/state.pb");
  const ResumePoint point = find_resume_point(folder.path());
  EXPECT_EQ(point.checkpoint, first);
  ASSERT_EQ(point.damaged.size(), 1U);
  EXPECT_THAT(point.damaged[0], HasSubstr(second));
  EXPECT_THAT(error_text<DataError>([&] { find_resume_point(second); }), HasSubstr("state.pb"))
      << "one that was asked for by name is not replaced by another";
}

TEST(ResumePoint, SaysWhyThereIsNone) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_text<DataError>([&] { find_resume_point(folder.path("absent")); }),
              HasSubstr("[resume] no checkpoint in \"" + folder.path("absent") + "\""));
  fs::remove(save(folder.path(), 1) + "/state.pb");
  const std::string text = error_text<DataError>([&] { find_resume_point(folder.path()); });
  EXPECT_THAT(text, HasSubstr("no undamaged checkpoint in"));
  EXPECT_THAT(text, HasSubstr("step-00000001"));
}

}  // namespace
}  // namespace lockstep::train

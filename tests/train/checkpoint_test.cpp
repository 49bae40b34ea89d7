#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <google/protobuf/util/message_differencer.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "runtime/rng.h"
#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// All its values tell the step.
Checkpoint checkpoint_of(int64_t step, int64_t elements = 4) {
  const auto value = static_cast<double>(step);
  Checkpoint checkpoint;
  checkpoint.model = {{"w", Tensor::full({elements}, value)}, {"b", Tensor::full({2}, value)}};
  checkpoint.optimizer = {{"w.momentum", Tensor::full({elements}, -value)}};
  checkpoint.state.set_step(step);
  checkpoint.state.set_sample_offset(32 * step);
  checkpoint.state.mutable_loss_scaler()->set_scale(1024);
  checkpoint.state.mutable_loss_scaler()->set_good_steps(6);
  return checkpoint;
}

SaveOptions without_pauses() {
  SaveOptions options;
  options.first_pause = std::chrono::milliseconds(0);
  return options;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void flip_byte(const std::string& path, int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const char old = static_cast<char>(file.get());
  file.seekp(offset);
  file.put(static_cast<char>(old ^ 1));
}

template <class E, class Call>
std::string error_text(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(Checkpoint, ReadsBackWhatWasSaved) {
  const TemporaryFolder folder;
  const Checkpoint saved = checkpoint_of(1234);
  const std::string path = save_checkpoint(folder.path("run/checkpoints"), saved);
  EXPECT_EQ(path, folder.path("run/checkpoints/step-00001234"));
  EXPECT_THAT(names_in(path),
              ElementsAre("manifest.json", "model.safetensors", "optimizer.safetensors", "state.pb"));

  const Checkpoint loaded = load_checkpoint(path);
  ASSERT_EQ(loaded.model.size(), 2U);
  EXPECT_EQ(loaded.model[1].name, "w");
  EXPECT_THAT(loaded.model[1].value.to_vector<float>(), ElementsAre(1234, 1234, 1234, 1234));
  EXPECT_EQ(loaded.optimizer.at(0).name, "w.momentum");
  EXPECT_EQ(loaded.state.format_version(), 1);
  EXPECT_THAT(loaded.state.build(), HasSubstr("lockstep"));
  CheckpointState state = loaded.state;
  state.clear_format_version();
  state.clear_build();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(state, saved.state));
}

TEST(Checkpoint, AverageAndBestWeightsAreThereIfTheRunKeepsThem) {
  const TemporaryFolder folder;
  Checkpoint saved = checkpoint_of(3);
  saved.average = {{"w", Tensor::full({4}, 5)}};
  saved.best = folder.path("best");
  std::ofstream(saved.best) << "weights";
  const std::string path = save_checkpoint(folder.path("checkpoints"), saved);
  std::ofstream(saved.best) << "later ones";
  const Checkpoint loaded = load_checkpoint(path);
  EXPECT_EQ(loaded.average.at(0).value.to_vector<float>(), std::vector<float>(4, 5));
  std::ifstream best(loaded.best);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(best), {}), "weights");
  flip_byte(loaded.best, 2);
  EXPECT_THAT(error_text<DataError>([&] { load_checkpoint(path); }), HasSubstr("best.safetensors has XXH3"));
}

TEST(Checkpoint, EqualContentGivesEqualBytes) {
  const TemporaryFolder folder;
  const std::string a = save_checkpoint(folder.path("a"), checkpoint_of(1));
  const std::string b = save_checkpoint(folder.path("b"), checkpoint_of(1));
  for (const std::string& name : names_in(a))
    EXPECT_EQ(digest_of(a + "/" + name), digest_of(b + "/" + name)) << name;
}

TEST(Checkpoint, TheNewestStayAndNothingElse) {
  const TemporaryFolder folder;
  SaveOptions options;
  options.keep = 2;
  for (const int64_t step : {5, 10, 15, 20}) save_checkpoint(folder.path(), checkpoint_of(step), options);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000015", "step-00000020"));
  options.keep = 1;
  save_checkpoint(folder.path(), checkpoint_of(100'000'000), options);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-100000000"));
}

TEST(Checkpoint, SavingAStepAgainReplacesIt) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = checkpoint_of(7);
  save_checkpoint(folder.path(), checkpoint);
  checkpoint.model[0].value.fill(3);
  const std::string path = save_checkpoint(folder.path(), checkpoint);
  EXPECT_EQ(load_checkpoint(path).model[1].value.data<float>()[0], 3);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000007"));
}

TEST(Checkpoint, StepsOfAGivenUpFutureGoAfterTheNextSave) {
  const TemporaryFolder folder;
  for (const int64_t step : {10, 20, 30}) save_checkpoint(folder.path(), checkpoint_of(step));
  save_checkpoint(folder.path(), checkpoint_of(15));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000010", "step-00000015"));
}

TEST(Checkpoint, LeftoversOfKilledSavesAreRemovedAndOthersFilesAreNot) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("step-00000003.partial"));
  std::ofstream(folder.path("step-00000003.partial/model.safetensors")) << "half";
  fs::create_directory(folder.path("step-x"));
  fs::create_directory(folder.path("step-12"));
  std::ofstream(folder.path("notes.partial")) << "mine";
  EXPECT_THAT(list_checkpoints(folder.path()), IsEmpty());
  save_checkpoint(folder.path(), checkpoint_of(4));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("notes.partial", "step-00000004", "step-12", "step-x"));
  EXPECT_EQ(list_checkpoints(folder.path()).size(), 1U);
}

TEST(FindNewestCheckpoint, IsEmptyWithoutAny) {
  const TemporaryFolder folder;
  EXPECT_FALSE(find_newest_checkpoint(folder.path()).newest);
  EXPECT_FALSE(find_newest_checkpoint(folder.path("absent")).newest);
}

/// Damages the checkpoint at a path; the error must contain the text.
struct Damage {
  const char* name;
  void (*inflict)(const std::string& path);
  const char* text;
};

std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.name;
}

class CheckpointDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(CheckpointDamage, IsReportedAndThePreviousOneUsed) {
  const TemporaryFolder folder;
  const std::string previous = save_checkpoint(folder.path(), checkpoint_of(1));
  const std::string newest = save_checkpoint(folder.path(), checkpoint_of(2));
  GetParam().inflict(newest);

  const CheckpointSearch search = find_newest_checkpoint(folder.path());
  ASSERT_TRUE(search.newest);
  EXPECT_EQ(search.newest->path, previous);
  EXPECT_EQ(search.newest->step, 1);
  ASSERT_EQ(search.damaged.size(), 1U);
  EXPECT_THAT(search.damaged[0], HasSubstr(newest));
  EXPECT_THAT(search.damaged[0], HasSubstr(GetParam().text));
  EXPECT_THAT(error_text<DataError>([&] { load_checkpoint(newest); }), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckpointDamage,
    ::testing::Values(
        Damage{"half_a_file", [](const std::string& p) { fs::resize_file(p + "/model.safetensors", 60); },
               "model.safetensors has 60 bytes: expected"},
        Damage{"a_flipped_bit", [](const std::string& p) { flip_byte(p + "/optimizer.safetensors", 70); },
               "optimizer.safetensors has XXH3"},
        Damage{"a_flipped_bit_of_state", [](const std::string& p) { flip_byte(p + "/state.pb", 3); },
               "state.pb has XXH3"},
        Damage{"a_missing_file", [](const std::string& p) { fs::remove(p + "/state.pb"); }, "No such file"},
        Damage{"no_manifest", [](const std::string& p) { fs::remove(p + "/manifest.json"); },
               "cannot read manifest.json"},
        Damage{"half_a_manifest", [](const std::string& p) { fs::resize_file(p + "/manifest.json", 40); },
               "manifest.json is damaged"},
        Damage{"another_manifest", [](const std::string& p) { std::ofstream(p + "/manifest.json") << "{}"; },
               "manifest.json does not describe model.safetensors"},
        Damage{"an_empty_folder",
               [](const std::string& p) {
                 fs::remove_all(p);
                 fs::create_directory(p);
               },
               "cannot read manifest.json"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(FindNewestCheckpoint, NamesEveryDamagedOne) {
  const TemporaryFolder folder;
  for (const int64_t step : {1, 2}) {
    fs::resize_file(save_checkpoint(folder.path(), checkpoint_of(step)) + "/model.safetensors", 1);
  }
  const CheckpointSearch search = find_newest_checkpoint(folder.path());
  EXPECT_FALSE(search.newest);
  ASSERT_EQ(search.damaged.size(), 2U);
  EXPECT_THAT(search.damaged[0], HasSubstr("step-00000002"));
}

/// Makes the first `count` calls of one operation fail.
SaveOptions failing(const std::string& call, int count, int error_number) {
  SaveOptions options = without_pauses();
  const auto left = std::make_shared<int>(count);
  const auto fails = [=] {
    errno = error_number;
    return (*left)-- > 0;
  };
  if (call == "write") {
    options.files.write = [=](int file, const void* data, size_t n) {
      return fails() ? -1 : ::write(file, data, n);
    };
  } else if (call == "fsync") {
    options.files.fsync = [=](int file) { return fails() ? -1 : ::fsync(file); };
  } else {
    options.files.rename = [=](const char* from, const char* to) {
      return fails() ? -1 : ::rename(from, to);
    };
  }
  return options;
}

class CheckpointShortFault : public ::testing::TestWithParam<const char*> {};

TEST_P(CheckpointShortFault, IsTriedAgainAndReportedOnce) {
  const TemporaryFolder folder;
  ::testing::internal::CaptureStderr();
  const std::string path = save_checkpoint(folder.path(), checkpoint_of(2), failing(GetParam(), 2, EIO));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NO_THROW(verify_checkpoint(path));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_THAT(log, HasSubstr("checkpoint of step 2 is saved, after trouble: [" + std::string(GetParam())));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000002"));
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointShortFault, ::testing::Values("write", "fsync", "rename"));

TEST(Checkpoint, ALastingFaultEndsWithAnErrorAndTheOldOneStays) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), checkpoint_of(1));
  const std::string text = error_text<Error>(
      [&] { save_checkpoint(folder.path(), checkpoint_of(2), failing("fsync", 1000, EIO)); });
  EXPECT_THAT(text, HasSubstr("[checkpoint] step 2 is not saved, tried 4 times: [fsync]"));
  EXPECT_THAT(text, HasSubstr("Input/output error; earlier checkpoints are untouched"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000001"));
  EXPECT_EQ(find_newest_checkpoint(folder.path()).newest->step, 1);
}

TEST(Checkpoint, AFullDiskIsNotTriedAgain) {
  const TemporaryFolder folder;
  SaveOptions keep_one = failing("write", 1000, ENOSPC);
  keep_one.keep = 1;
  save_checkpoint(folder.path(), checkpoint_of(1));
  const std::string text =
      error_text<Error>([&] { save_checkpoint(folder.path(), checkpoint_of(2), keep_one); });
  EXPECT_THAT(text, HasSubstr("tried 1 times"));
  EXPECT_THAT(text, HasSubstr("No space left on device"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000001"));
}

TEST(Checkpoint, AFolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "in the way";
  const std::string text = error_text<Error>([&] { save_checkpoint(folder.path("file"), checkpoint_of(1)); });
  EXPECT_THAT(text, HasSubstr("[mkdir] \"" + folder.path("file")));
}

/// A process that saves step after step without end, and tells of each that is done.
class Saver {
 public:
  Saver(const std::string& folder, int64_t first_step) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    child_ = fork();
    if (child_ == 0) save_for_ever(folder, first_step, ends[1]);
    close(ends[1]);
    done_ = ends[0];
  }

  /// Waits until the first step is saved, lets it go on for a while, kills it; returns the last step it told
  /// of.
  int64_t kill_after(int microseconds) {
    int64_t step = 0;
    EXPECT_EQ(read(done_, &step, sizeof step), static_cast<ssize_t>(sizeof step));
    usleep(static_cast<useconds_t>(microseconds));
    kill(child_, SIGKILL);
    int status = 0;
    waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the saver ended by itself";
    for (int64_t next = 0; read(done_, &next, sizeof next) == sizeof next;) step = next;
    close(done_);
    return step;
  }

 private:
  /// An exception ends the process, and does not go on with the tests in it.
  [[noreturn]] static void save_for_ever(const std::string& folder, int64_t step, int done) noexcept {
    SaveOptions options;
    options.keep = 2;
    for (;; ++step) {
      save_checkpoint(folder, checkpoint_of(step, 50'000), options);
      if (write(done, &step, sizeof step) != sizeof step) _exit(1);
    }
  }

  pid_t child_;
  int done_;
};

TEST(Checkpoint, KilledAtAnyMomentCostsAtMostTheSaveInProgress) {
  const TemporaryFolder folder;
  const RandomStream random(1, Purpose::kTest, 0, 0);
  int64_t next = 1;
  for (uint64_t round = 0; round < 50; ++round) {
    const int64_t told = Saver(folder.path(), next).kill_after(static_cast<int>(random.below(round, 20000)));
    const CheckpointSearch search = find_newest_checkpoint(folder.path());
    ASSERT_TRUE(search.newest) << "round " << round;
    EXPECT_THAT(search.damaged, IsEmpty());
    // It may have been killed between a rename and telling of it.
    EXPECT_TRUE(search.newest->step == told || search.newest->step == told + 1)
        << "round " << round << ": step " << search.newest->step << ", saved " << told;
    EXPECT_EQ(load_checkpoint(search.newest->path).model[1].value.data<float>()[49'999],
              static_cast<float>(search.newest->step));
    next = search.newest->step + 1;
  }
  save_checkpoint(folder.path(), checkpoint_of(next));
  for (const std::string& name : names_in(folder.path())) EXPECT_FALSE(name.ends_with(".partial")) << name;
}

}  // namespace
}  // namespace lockstep::train

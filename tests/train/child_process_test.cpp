#include "train/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChildOutcome run_shell(const std::string& script, milliseconds deadline = seconds(30),
                       const std::string& folder = "/") {
  return run_child({"sh", "-c", script}, {.folder = folder, .deadline = deadline});
}

TEST(ChildProcess, RunsInItsFolder) {
  const TemporaryFolder folder;
  const ChildOutcome outcome = run_shell("echo x > here", seconds(30), folder.path());
  EXPECT_TRUE(outcome.succeeded) << outcome.problem;
  EXPECT_TRUE(std::filesystem::exists(folder.path("here")));
}

TEST(ChildProcess, TellsWhyItFailed) {
  EXPECT_EQ(run_shell("exit 3").problem, "status 3");
  EXPECT_EQ(run_shell("echo >&2; echo no such curve >&2; echo more >&2; exit 1").problem,
            "status 1: no such curve");
  EXPECT_EQ(run_shell("kill -9 $$").problem, "signal 9");
  EXPECT_EQ(run_child({"lockstep-has-no-such-program"}, {}).problem, "not found");
  EXPECT_FALSE(run_shell("true", seconds(30), "/no/such/folder").succeeded);
}

TEST(ChildProcess, IsKilledWhenItHangs) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_shell("exec sleep 60", milliseconds(100)).problem,
            "killed, since it did not end within 100 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

TEST(ChildProcess, IsAskedToEndAndKilledIfItDoesNot) {
  const TemporaryFolder folder;
  EXPECT_FALSE(
      run_shell("trap 'echo x > asked; exit 0' TERM; sleep 60 & wait", milliseconds(300), folder.path())
          .succeeded);
  EXPECT_TRUE(std::filesystem::exists(folder.path("asked")));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_child({"sh", "-c", "trap '' TERM; while :; do sleep 1; done"},
                      {.deadline = milliseconds(100), .end_patience = milliseconds(100)})
                .problem,
            "killed, since it did not end within 100 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

TEST(ChildProcess, StopsOnRequest) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop = true;
  });
  const ChildOutcome outcome = run_child({"sleep", "60"}, {.stop = &stop});
  other.join();
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.succeeded);
  EXPECT_FALSE(run_shell("exit 1").stopped);
}

TEST(ChildProcess, HasTheEnvironmentAndTheOutputThatItIsGiven) {
  const TemporaryFolder folder;
  const std::string file = folder.path("output");
  const ChildOutcome outcome = run_child({"sh", "-c", "echo $WORD $HOME; echo problem >&2; exit 1"},
                                         {.environment = {"WORD=first", "OTHER=x"}, .output = file});
  EXPECT_EQ(outcome.problem, "status 1");
  std::ifstream text(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(text), {}), "first\nproblem\n");
}

TEST(ChildProcess, MayPrintMoreThanAPipeHolds) {
  const ChildOutcome outcome = run_shell("set -e; head -c 1000000 /dev/zero | tr '\\0' x >&2");
  EXPECT_TRUE(outcome.succeeded) << outcome.problem;
}

TEST(ChildProcess, HasNoInputAndNoneOfOurFiles) {
  EXPECT_TRUE(run_shell("! read line").succeeded);
  const TemporaryFolder folder;
  std::ofstream(folder.path("open")) << "x";
  const int file = ::open(folder.path("open").c_str(), O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(file, 0);
  EXPECT_FALSE(run_shell("test -e /proc/self/fd/" + std::to_string(file)).succeeded);
  ::close(file);
}

TEST(ChildProcess, CanBeInterruptedThoughOurThreadsCannot) {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  EXPECT_EQ(run_shell("kill -TERM $$; sleep 60").problem, "signal 15");
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

}  // namespace
}  // namespace lockstep::train

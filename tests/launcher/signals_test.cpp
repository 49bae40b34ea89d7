#include "launcher/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

namespace lockstep::launcher {
namespace {

/// Runs `body` in a process of its own, since signal masks stay, and returns its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool becomes_true(const std::atomic<bool>& flag) {
  for (int i = 0; i < 500 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return flag;
}

TEST(Signals, AreTurnedIntoRequests) {
  EXPECT_EQ(in_child([] {
              block_signals();
              train::Requests requests;
              const SignalThread thread(requests, false);
              kill(getpid(), SIGUSR1);
              if (!becomes_true(requests.save) || requests.stop) return 1;
              kill(getpid(), SIGCONT);
              kill(getpid(), SIGUSR2);
              return becomes_true(requests.stop) ? 0 : 2;
            }),
            0);
}

TEST(Signals, ContStopsOnlyUnderMpirun) {
  const auto stops = [](bool under_mpirun) {
    return in_child([&] {
      block_signals();
      train::Requests requests;
      const SignalThread thread(requests, under_mpirun);
      kill(getpid(), SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return requests.stop ? 1 : 0;
    });
  };
  EXPECT_EQ(stops(true), 1);
  EXPECT_EQ(stops(false), 0);
}

TEST(Signals, TheSecondTermEndsTheProcess) {
  EXPECT_EQ(in_child([] {
              block_signals();
              train::Requests requests;
              const SignalThread thread(requests, false);
              kill(getpid(), SIGTERM);
              if (!becomes_true(requests.stop)) return 1;
              kill(getpid(), SIGTERM);
              std::this_thread::sleep_for(std::chrono::seconds(5));
              return 2;
            }),
            128 + SIGTERM);
}

}  // namespace
}  // namespace lockstep::launcher

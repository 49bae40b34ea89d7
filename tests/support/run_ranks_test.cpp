#include "tests/support/run_ranks.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/error.h"

namespace lockstep::test {
namespace {

TEST(RunRanks, GivesEachRankItsCommunicator) {
  std::vector<int> sizes(3, 0);
  run_ranks(3, [&](comm::Communicator& comm) { sizes[comm.rank()] = comm.size(); });
  EXPECT_EQ(sizes, std::vector<int>(3, 3));
}

TEST(RunRanks, ThrowsForTheFirstRankThatThrew) {
  try {
    run_ranks(4, [](comm::Communicator& comm) {
      if (comm.rank() % 2 == 1) throw Error("odd");
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 1: odd");
  }
}

TEST(RunRanksDeathTest, TheWatchdogNamesRankAndCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  RunOptions options;
  options.watchdog = std::chrono::seconds(1);
  const auto hang = [&] {
    run_ranks(
        2,
        [](comm::Communicator& comm) {
          if (comm.rank() == 0) comm.barrier({.label = "epoch"});
          for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
        },
        options);
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(1),
              "not finished after 1 s:\nrank 0: barrier #1 \\(epoch\\) at step 0, waiting for rank 1\n"
              "rank 1: not in a collective");
}

}  // namespace
}  // namespace lockstep::test

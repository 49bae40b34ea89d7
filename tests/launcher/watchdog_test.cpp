#include "launcher/watchdog.h"

#include <gtest/gtest.h>

#include <thread>

namespace lockstep::launcher {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, LetsGoWhatFinishesInTime) {
  const Watchdog watchdog("MPI_Init", std::chrono::seconds(60), 69);
}

TEST(WatchdogDeathTest, EndsTheProcessAndNamesTheCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Watchdog watchdog("MPI_Init", milliseconds(50), 69);
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      testing::ExitedWithCode(69), "MPI_Init.*0.05 s");
}

}  // namespace
}  // namespace lockstep::launcher

#include "parallel/clock_offset.h"

#include <gtest/gtest.h>

#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

TEST(ClockOffset, IsNothingOnOneHost) {
  test::run_ranks(3, [](comm::Communicator& communicator) {
    EXPECT_EQ(clock_offset(communicator), std::chrono::nanoseconds(0));
  });
}

TEST(ClockOffset, OneLateRoundDoesNotCount) {
  EXPECT_EQ(median_difference({1005, 2007, 9000}, {5, 1006, 2000}), 1001);
  EXPECT_EQ(median_difference({-5}, {5}), -10);
}

}  // namespace
}  // namespace lockstep::parallel

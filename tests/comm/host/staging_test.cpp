#include "comm/host/staging.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::comm {
namespace {

TEST(Staging, BuffersInUseAreDistinct) {
  Staging staging;
  const int first = staging.take(100);
  const int second = staging.take(100);
  std::memset(staging.data(first), 1, 100);
  std::memset(staging.data(second), 2, 100);
  EXPECT_EQ(staging.data(first)[99], std::byte{1});
  EXPECT_EQ(staging.data(second)[0], std::byte{2});
}

TEST(Staging, TakesTheWarmestThatIsLargeEnough) {
  Staging staging;
  const int large = staging.take(1000);
  const int small = staging.take(10);
  staging.give_back(large);
  staging.give_back(small);
  EXPECT_EQ(staging.take(10), small);
  staging.give_back(small);
  EXPECT_EQ(staging.take(11), large);
}

TEST(Staging, GrowsWhatIsTooSmallInsteadOfKeepingBoth) {
  Staging staging;
  const int number = staging.take(10);
  staging.give_back(number);
  EXPECT_EQ(staging.take(5000), number);
  std::memset(staging.data(number), 3, 5000);
  staging.give_back(number);
  const std::byte* data = staging.data(number);
  EXPECT_EQ(staging.take(10), number);
  EXPECT_EQ(staging.data(number), data) << "the larger one serves";
}

}  // namespace
}  // namespace lockstep::comm

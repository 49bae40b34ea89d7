#include <gtest/gtest.h>

#include <cfenv>
#include <limits>

#include "runtime/threads.h"

namespace lockstep {
namespace {

TEST(FloatingPointControl, RoundsToNearestAndKeepsSubnormals) {
  std::fesetround(FE_UPWARD);
  set_floating_point_control();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  volatile float smallest_normal = std::numeric_limits<float>::min();
  EXPECT_GT(smallest_normal * 0.5F, 0.0F);
}

}  // namespace
}  // namespace lockstep

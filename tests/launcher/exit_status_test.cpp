#include "launcher/exit_status.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

TEST(ExitStatus, EveryKindOfErrorHasItsNumber) {
  EXPECT_EQ(status_of(ConfigError("")), 64);
  EXPECT_EQ(status_of(DataError("")), 65);
  EXPECT_EQ(status_of(CommError("")), 69);
  EXPECT_EQ(status_of(Error("")), 70);
  EXPECT_EQ(status_of(std::bad_alloc()), 70);
}

}  // namespace
}  // namespace lockstep::launcher

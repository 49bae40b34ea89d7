#include "runtime/cpu_name.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(CpuName, IsOneLineOfText) {
  const std::string name = cpu_name();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find_first_of("\n\t:"), std::string::npos) << name;
}

}  // namespace
}  // namespace lockstep

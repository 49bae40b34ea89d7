#include "ops/library_version.h"

#include <gtest/gtest.h>

namespace lockstep::ops {
namespace {

TEST(LibraryVersion, NamesLibraryVersionAndInstructionSet) {
  const std::string version = library_version();
  EXPECT_EQ(version.rfind("oneDNN ", 0), 0U) << version;
  EXPECT_NE(version.find('.'), std::string::npos) << version;
  EXPECT_EQ(version.back(), ')') << version;
}

}  // namespace
}  // namespace lockstep::ops

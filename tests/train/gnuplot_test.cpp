#include "train/gnuplot.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/train/temporary_folder.h"
#include "train/files.h"

namespace lockstep::train {
namespace {

TEST(Gnuplot, TextsAreQuotedOnOneLine) {
  EXPECT_EQ(gnuplot_text("a \"b\" \\ c\nd"), R"("a \"b\" \\ c d")");
}

TEST(Gnuplot, DrawsBothKindsOfPicture) {
  const TemporaryFolder folder;
  const std::string commands =
      gnuplot_style() + gnuplot_begin("line", 300, 200) + "plot [0:1] x linestyle 1\n" + kGnuplotEnd;
  EXPECT_EQ(draw(folder.path(), "line", commands, {}), "");
  EXPECT_GT(std::filesystem::file_size(folder.path("line.svg")), 0U);
  EXPECT_GT(std::filesystem::file_size(folder.path("line.png")), 0U);
}

TEST(Gnuplot, SaysWhatWentWrong) {
  const TemporaryFolder folder;
  EXPECT_NE(draw(folder.path(), "x", "plot nothing_of_this_name(x)\n", {}).find("nothing_of_this_name"),
            std::string::npos);
  EXPECT_EQ(draw(folder.path(), "x", "", {.program = "lockstep-has-no-such-program"}),
            "lockstep-has-no-such-program: not found");
  EXPECT_THROW(draw("/no/such/folder", "x", "", {}), FileError);
}

}  // namespace
}  // namespace lockstep::train

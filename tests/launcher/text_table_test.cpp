#include "launcher/text_table.h"

#include <gtest/gtest.h>

namespace lockstep::launcher {
namespace {

TEST(TextTable, AlignsColumnsAtTheRight) {
  EXPECT_EQ(text_table({{"a", "long name"}, {"12345", "x"}}),
            "|     a | long name |\n"
            "|------:|----------:|\n"
            "| 12345 |         x |\n");
}

TEST(TextTable, FormatsANumber) {
  EXPECT_EQ(formatted("%.2f s", 1.005e1), "10.05 s");
}

}  // namespace
}  // namespace lockstep::launcher

#include "runtime/named_rows.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace lockstep {
namespace {

struct Row {
  const char* name;
  int value;
};
constexpr Row kTable[] = {{"one", 1}, {"two", 2}};
const std::vector<Row> kOwn{{"three", 3}};

TEST(NamedRows, FindsRowsOfTheTableAndOwnOnes) {
  const std::vector<Row> rows = with_own(kTable, kOwn);
  EXPECT_EQ(names_of(rows), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(find_row("number", rows, "two").value, 2);
  EXPECT_EQ(find_row("number", rows, "three").value, 3);
}

TEST(NamedRows, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  test::expect_error<ConfigError>([] { find_row("number", with_own(kTable, kOwn), "four"); },
                                  "[number] unknown name \"four\"; known: one, two, three");
}

}  // namespace
}  // namespace lockstep

#include "train/nearest_name.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

TEST(NearestName, IsTheOneWithTheFewestEdits) {
  EXPECT_EQ(nearest_name("momentun", {"lr", "momentum", "nesterov"}), "momentum");
  EXPECT_EQ(nearest_name("lrr", {"name", "lr"}), "lr");
  EXPECT_EQ(nearest_name("fashion_mnits", {"fashion_mnist", "mnist"}), "fashion_mnist");
  EXPECT_EQ(nearest_name("aa", {"ab", "ba"}), "ab");
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("adamw", {"sgd", "lars"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(KnownNamesHint, GuessesAndLists) {
  EXPECT_EQ(known_names_hint("sdg", {"sgd", "lars"}), "; known: sgd, lars");
  EXPECT_EQ(known_names_hint("larz", {"sgd", "lars"}), "; did you mean \"lars\"?; known: sgd, lars");
  EXPECT_EQ(known_names_hint("larz", {}), "; known: none");
}

TEST(Joined, ALongListIsCut) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined({"a", "b", "c"}, 3), "a, b, c");
  EXPECT_EQ(joined({"a", "b", "c"}, 1), "a, and 2 more");
}

}  // namespace
}  // namespace lockstep::train

#include "comm/algorithms/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

using ::testing::HasSubstr;

TEST(Selection, ANameTakesEverySize) {
  const Selection selection = parse_selection("ring", false);
  for (const size_t nbytes : {size_t{0}, size_t{1}, size_t{1} << 40})
    EXPECT_STREQ(selection.choose(nbytes).name, "ring");
  EXPECT_EQ(selection.text(), "ring");
  EXPECT_EQ(selection.description(), "ring");
}

TEST(Selection, ARangeHoldsItsEndButNotItsBegin) {
  const Selection selection =
      parse_selection("direct:0-8K;recursive_doubling:8K-1M;halving_doubling:1M-", true);
  EXPECT_STREQ(selection.choose(0).name, "direct");
  EXPECT_STREQ(selection.choose(8192).name, "direct");
  EXPECT_STREQ(selection.choose(8193).name, "recursive_doubling");
  EXPECT_STREQ(selection.choose(1 << 20).name, "recursive_doubling");
  EXPECT_STREQ(selection.choose((1 << 20) + 1).name, "halving_doubling");
  EXPECT_STREQ(selection.choose(SizeRange::kUnlimited).name, "halving_doubling");
}

TEST(Selection, IsPrintedAsItIsRead) {
  for (const char* text : {"direct:0-100;halving_doubling:100-", "direct:0-3K;halving_doubling:3K-",
                           "direct:0-1M;recursive_doubling:1M-1025K;ring:1025K-2G;halving_doubling:2G-"}) {
    EXPECT_EQ(parse_selection(text, false).text(), text);
  }
  EXPECT_EQ(parse_selection("direct:0-2048;halving_doubling:2048-...", true).text(),
            "direct:0-2K;halving_doubling:2K-");
  EXPECT_EQ(parse_selection("direct:0-2K;direct:2K-4K;ring:4K-", false).text(), "direct:0-4K;ring:4K-");
  EXPECT_EQ(parse_selection("direct:0-2K;direct:2K-", true).text(), "direct");
}

TEST(Selection, IsSpoken) {
  EXPECT_EQ(parse_selection("direct:0-100;ring:100-3M;halving_doubling:3M-", false).description(),
            "direct up to 100 bytes, ring up to 3 MiB, halving_doubling above");
}

struct Mistake {
  const char* text;
  const char* complaint;
};

TEST(Selection, ComplaintsQuoteThePartThatIsWrong) {
  for (const Mistake& mistake : {
           Mistake{"rong", "unknown algorithm \"rong\""},
           {"", "unknown algorithm \"\""},
           {"direct:0-8K;rong:8K-", "unknown algorithm \"rong\""},
           {"direct:0-8K;;ring:8K-", "\"\": expected name:BEGIN-END"},
           {"direct:0-8K;ring:8K-;", "\"\": expected name:BEGIN-END"},
           {"direct:0-8K;ring", "\"ring\": expected name:BEGIN-END"},
           {"direct:0_8K;ring:8K-", "\"direct:0_8K\": expected name:BEGIN-END"},
           {"direct:0-8Q;ring:8K-", "\"direct:0-8Q\": expected a number of bytes"},
           {"direct:0-8KB;ring:8K-", "got \"8KB\""},
           {"direct:-8K;ring:8K-", "got \"\""},
           {"direct:0--8K;ring:8K-", "got \"-8K\""},
           {"direct:0-99999999999999G;ring:8K-", "got \"99999999999999G\""},
           {"direct:0-99999999999999999999999;ring:8K-", "got \"99999999999999999999999\""},
           {"direct:1-8K;ring:8K-", "\"direct:1-8K\" begins at 1: expected the first at 0"},
           {"direct:0-8K;ring:16K-", "\"ring:16K-\" begins at 16K, but \"direct:0-8K\" ends at 8K"},
           {"direct:0-8K;ring:4K-", "\"ring:4K-\" begins at 4K, but \"direct:0-8K\" ends at 8K"},
           {"direct:0-;ring:8K-", "\"direct:0-\" has no end, but \"ring:8K-\" follows"},
           {"direct:0-8K;ring:8K-8K", "\"ring:8K-8K\" ends before it begins"},
           {"direct:0-8K;ring:8K-1M", "\"ring:8K-1M\" ends at 1M: expected the last to have no end"},
       }) {
    try {
      parse_selection(mistake.text, false);
      ADD_FAILURE() << "accepted " << mistake.text;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(mistake.complaint)) << mistake.text;
      EXPECT_THAT(error.what(), HasSubstr("[comm.algorithm]"));
    }
  }
}

TEST(Selection, OnlyTreeOrderIsReproducibleInAnyRange) {
  try {
    parse_selection("direct:0-8K;ring:8K-1M;halving_doubling:1M-", true);
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"ring\" sums in an order that depends on the number of ranks"));
  }
}

TEST(Selection, AutoTakesOneRoundForWhatIsSmall) {
  EXPECT_EQ(automatic_selection(2, 1).text(), "direct:0-2K;halving_doubling:2K-");
  EXPECT_EQ(automatic_selection(4, 1).text(), "direct:0-256;halving_doubling:256-");
}

TEST(Selection, AutoUsesSharedMemoryWhereThereIsSome) {
  EXPECT_STREQ(automatic_selection(2, 2).choose(8192).name, "halving_doubling");
  EXPECT_STREQ(automatic_selection(2, 2).choose(8193).name, "hierarchical");
}

TEST(Selection, AutoIsReproducible) {
  for (const int ranks_per_node : {1, 2, 4}) {
    const std::string text = automatic_selection(8, ranks_per_node).text();
    EXPECT_EQ(parse_selection(text, true).text(), text);
  }
}

}  // namespace
}  // namespace lockstep::comm

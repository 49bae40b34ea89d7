#include "comm/reduction_tree.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

using Nodes = std::vector<TreeNode>;

TEST(MaximalSubtrees, AreAlignedAndAsLargeAsCanBe) {
  EXPECT_EQ(maximal_subtrees(16, 0, 16), (Nodes{{4, 0}}));
  EXPECT_EQ(maximal_subtrees(16, 5, 10), (Nodes{{0, 5}, {1, 3}, {1, 4}}));
  EXPECT_EQ(maximal_subtrees(16, 0, 5), (Nodes{{2, 0}, {0, 4}}));
  EXPECT_EQ(maximal_subtrees(16, 10, 16), (Nodes{{1, 5}, {2, 3}}));
  EXPECT_EQ(maximal_subtrees(1, 0, 1), (Nodes{{0, 0}}));
  EXPECT_EQ(maximal_subtrees(8, 3, 3), Nodes{});
}

TEST(MaximalSubtrees, CoverEveryRangeExactlyWithoutSiblings) {
  for (int first = 0; first <= 32; ++first) {
    for (int last = first; last <= 32; ++last) {
      int next = first;
      TreeNode previous{-1, 0};
      for (const TreeNode& node : maximal_subtrees(32, first, last)) {
        EXPECT_EQ(node.index << node.level, next);
        EXPECT_FALSE(node.level == previous.level && node.index == previous.index + 1 && node.index % 2 == 1);
        next = (node.index + 1) << node.level;
        previous = node;
      }
      EXPECT_EQ(next, last);
    }
  }
}

TEST(MaximalSubtrees, RefusesWhatIsNotARange) {
  EXPECT_THROW(maximal_subtrees(12, 0, 4), InvalidArgument);
  EXPECT_THROW(maximal_subtrees(16, 4, 3), InvalidArgument);
  EXPECT_THROW(maximal_subtrees(16, 4, 17), InvalidArgument);
}

TEST(RankLeaves, DealAllLeavesInOrder) {
  EXPECT_EQ(rank_leaves(16, 3, 0), (std::pair{0, 5}));
  EXPECT_EQ(rank_leaves(16, 3, 1), (std::pair{5, 10}));
  EXPECT_EQ(rank_leaves(16, 3, 2), (std::pair{10, 16}));
  for (int ranks = 1; ranks <= 16; ++ranks) {
    int next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto [first, last] = rank_leaves(16, ranks, rank);
      EXPECT_EQ(first, next);
      EXPECT_LT(first, last);
      next = last;
    }
    EXPECT_EQ(next, 16);
  }
}

TEST(ChunkOf, CutsEvenly) {
  EXPECT_EQ(chunk_of(10, 4, 0), (Range{0, 3}));
  EXPECT_EQ(chunk_of(10, 4, 1), (Range{3, 6}));
  EXPECT_EQ(chunk_of(10, 4, 2), (Range{6, 8}));
  EXPECT_EQ(chunk_of(10, 4, 3), (Range{8, 10}));
  EXPECT_EQ(chunk_of(1, 3, 1), (Range{1, 1}));
  EXPECT_EQ(chunk_of(0, 3, 2), (Range{0, 0}));
  const int64_t large = int64_t{1} << 60;
  EXPECT_EQ(chunk_of(large, 13, 12).end, large);
}

TEST(PowersOfTwo, AreRecognisedAndFound) {
  EXPECT_TRUE(is_power_of_two(1));
  EXPECT_TRUE(is_power_of_two(64));
  EXPECT_FALSE(is_power_of_two(0));
  EXPECT_FALSE(is_power_of_two(-4));
  EXPECT_FALSE(is_power_of_two(12));
  EXPECT_EQ(next_power_of_two(1), 1);
  EXPECT_EQ(next_power_of_two(5), 8);
  EXPECT_EQ(next_power_of_two(8), 8);
}

TEST(LeafLayout, GivesEachRankItsSubtrees) {
  EXPECT_EQ(one_leaf_each(3).leaves, 4);
  EXPECT_EQ(one_leaf_each(3).subtrees(2), (Nodes{{0, 2}}));
  EXPECT_EQ(dealt_leaves(16, 3).ranks(), 3);
  EXPECT_EQ(dealt_leaves(16, 3).subtrees(1), (Nodes{{0, 5}, {1, 3}, {1, 4}}));
}

/// Writes each addition down, so that the parenthesisation can be read.
std::string formula(const Nodes& subtrees) {
  std::vector<std::string> slots;
  for (size_t i = 0; i < subtrees.size(); ++i) slots.emplace_back(1, static_cast<char>('a' + i));
  for (const Merge& merge : merges_to_root(subtrees)) {
    slots[merge.left] = "(" + slots[merge.left] + slots[merge.right] + ")";
  }
  return slots[0];
}

TEST(MergesToRoot, FollowTheTree) {
  EXPECT_EQ(formula({{0, 0}, {0, 1}, {0, 2}, {0, 3}}), "((ab)(cd))");
  EXPECT_EQ(formula({{2, 0}, {0, 4}, {0, 5}, {1, 3}}), "(a((bc)d))");
  EXPECT_EQ(formula({{3, 0}}), "a");
}

TEST(MergesToRoot, SkipAbsentLeaves) {
  EXPECT_EQ(formula({{0, 0}, {0, 1}, {0, 2}}), "((ab)c)");
  EXPECT_EQ(formula({{2, 0}, {0, 4}}), "(ab)");
  EXPECT_EQ(formula({{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}}), "(((ab)(cd))((ef)g))");
}

}  // namespace
}  // namespace lockstep::comm

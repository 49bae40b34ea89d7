// The binary tree that fixes the order of a sum, and how its leaves and the elements are dealt to ranks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep::comm {

/// Covers leaves [index << level, (index + 1) << level).
struct TreeNode {
  int level = 0;
  int index = 0;
  bool operator==(const TreeNode&) const = default;
};

/// The fewest subtrees that cover leaves [first, last) exactly, in leaf order; `leaves` is a power of two.
std::vector<TreeNode> maximal_subtrees(int leaves, int first, int last);

/// Leaves [floor(rank * leaves / ranks), floor((rank + 1) * leaves / ranks)).
std::pair<int, int> rank_leaves(int leaves, int ranks, int rank);

bool is_power_of_two(int value);
int next_power_of_two(int value);  ///< the least power of two that is not below `value`

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Part `index` of [0, count) cut into `parts` contiguous parts; the first count % parts have one element
/// more.
Range chunk_of(int64_t count, int parts, int index);

/// Which leaves each rank holds: rank r the leaves [begin[r], begin[r + 1]). Leaves from begin.back() on are
/// absent; an absent operand is skipped, so that the value of its sibling is the value of their parent.
struct LeafLayout {
  int leaves = 1;
  std::vector<int> begin;

  int ranks() const { return static_cast<int>(begin.size()) - 1; }
  std::vector<TreeNode> subtrees(int rank) const {
    return maximal_subtrees(leaves, begin[rank], begin[rank + 1]);
  }
};

LeafLayout one_leaf_each(int ranks);             ///< rank r holds leaf r of next_power_of_two(ranks) leaves
LeafLayout dealt_leaves(int leaves, int ranks);  ///< rank r holds rank_leaves(leaves, ranks, r)

/// A way to complete the tree from subtrees in leaf order: slot i starts with subtree i; each merge adds two
/// slots and leaves the sum in `left`. The last merge leaves the root in slot 0.
struct Merge {
  int left = 0;
  int right = 0;
};
std::vector<Merge> merges_to_root(const std::vector<TreeNode>& subtrees);

/// Only the merges of two siblings, and the slots that they leave, in leaf order: the fewest subtrees that
/// cover the same leaves.
struct SiblingMerges {
  std::vector<Merge> merges;
  std::vector<int> left_over;
};
SiblingMerges merge_siblings(const std::vector<TreeNode>& subtrees);

}  // namespace lockstep::comm

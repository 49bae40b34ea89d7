#include "comm/reduction_tree.h"

#include <algorithm>
#include <bit>

#include "runtime/error.h"

namespace lockstep::comm {

std::vector<TreeNode> maximal_subtrees(int leaves, int first, int last) {
  check(is_power_of_two(leaves) && 0 <= first && first <= last && last <= leaves, "maximal_subtrees",
        "expected 0 <= first <= last <= leaves, a power of two; got first ", first, ", last ", last,
        ", leaves ", leaves);
  std::vector<TreeNode> nodes;
  while (first < last) {
    int level = first == 0 ? std::countr_zero(static_cast<unsigned>(leaves))
                           : std::countr_zero(static_cast<unsigned>(first));
    while (first + (1 << level) > last) --level;
    nodes.push_back({level, first >> level});
    first += 1 << level;
  }
  return nodes;
}

std::pair<int, int> rank_leaves(int leaves, int ranks, int rank) {
  check(0 <= rank && rank < ranks, "rank_leaves", "rank ", rank, " is not one of ", ranks);
  const auto bound = [&](int64_t r) { return static_cast<int>(r * leaves / ranks); };
  return {bound(rank), bound(rank + 1)};
}

bool is_power_of_two(int value) {
  return value > 0 && std::has_single_bit(static_cast<unsigned>(value));
}

int next_power_of_two(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(value, 1))));
}

Range chunk_of(int64_t count, int parts, int index) {
  const int64_t each = count / parts;
  const int64_t longer = count % parts;
  const auto bound = [&](int64_t i) { return i * each + std::min(i, longer); };
  return {bound(index), bound(index + 1)};
}

LeafLayout one_leaf_each(int ranks) {
  LeafLayout layout{next_power_of_two(ranks), {}};
  for (int rank = 0; rank <= ranks; ++rank) layout.begin.push_back(rank);
  return layout;
}

LeafLayout dealt_leaves(int leaves, int ranks) {
  LeafLayout layout{leaves, {0}};
  for (int rank = 0; rank < ranks; ++rank) layout.begin.push_back(rank_leaves(leaves, ranks, rank).second);
  return layout;
}

SiblingMerges merge_siblings(const std::vector<TreeNode>& subtrees) {
  SiblingMerges result;
  std::vector<TreeNode> open;  // from left to right, those of left_over; no two are siblings
  const auto are_siblings = [](const TreeNode& left, const TreeNode& right) {
    return left.level == right.level && left.index % 2 == 0 && right.index == left.index + 1;
  };
  for (int slot = 0; slot < static_cast<int>(subtrees.size()); ++slot) {
    open.push_back(subtrees[slot]);
    result.left_over.push_back(slot);
    while (open.size() > 1 && are_siblings(open[open.size() - 2], open.back())) {
      const int right = result.left_over.back();
      open.pop_back();
      result.left_over.pop_back();
      result.merges.push_back({result.left_over.back(), right});
      open.back() = {open.back().level + 1, open.back().index / 2};
    }
  }
  return result;
}

std::vector<Merge> merges_to_root(const std::vector<TreeNode>& subtrees) {
  auto [merges, open] = merge_siblings(subtrees);
  // What is left has absent siblings only: each rises unchanged until it meets its left neighbour.
  for (; open.size() > 1; open.pop_back()) merges.push_back({open[open.size() - 2], open.back()});
  return merges;
}

}  // namespace lockstep::comm

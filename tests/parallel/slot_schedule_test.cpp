#include "parallel/slot_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "comm/reduction_tree.h"

namespace lockstep::parallel {
namespace {

/// Carries out a schedule on symbols: every buffer holds the expression that was accumulated in it.
std::vector<std::string> run(const SlotSchedule& schedule) {
  std::map<int, std::string> buffers;
  for (const SlotStep& step : schedule.steps) {
    buffers[step.buffer] = std::to_string(step.slot);
    std::string sum = buffers[step.buffer];
    for (const int addend : step.addends) sum = "(" + buffers[addend] + "+" + sum + ")";
    buffers[step.target] = sum;
  }
  for (const int buffer : schedule.neutral) buffers[buffer] = "-";
  std::vector<std::string> operands;
  for (const int buffer : schedule.operands) operands.push_back(buffers[buffer]);
  return operands;
}

/// The tree's expression over the occupied slots below a node; "-" where there is none.
std::string expected(int level, int index, const std::vector<int>& occupied) {
  if (level == 0) {
    return std::count(occupied.begin(), occupied.end(), index) > 0 ? std::to_string(index) : "-";
  }
  const std::string left = expected(level - 1, 2 * index, occupied);
  const std::string right = expected(level - 1, 2 * index + 1, occupied);
  if (left == "-") return right;
  if (right == "-") return left;
  return "(" + left + "+" + right + ")";
}

TEST(SlotSchedule, EverySetOfOccupiedSlotsGivesTheTreesExpression) {
  constexpr int kLeaves = 8;
  for (int ranks = 1; ranks <= kLeaves; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto [first, last] = comm::rank_leaves(kLeaves, ranks, rank);
      for (unsigned set = 0; set < (1U << (last - first)); ++set) {
        std::vector<int> occupied;
        for (int i = 0; i < last - first; ++i) {
          if (set >> i & 1U) occupied.push_back(first + i);
        }
        const SlotSchedule schedule = schedule_slots(kLeaves, first, last, occupied);
        std::vector<std::string> wanted;
        for (const auto& node : comm::maximal_subtrees(kLeaves, first, last)) {
          wanted.push_back(expected(node.level, node.index, occupied));
        }
        EXPECT_EQ(run(schedule), wanted) << "ranks " << ranks << " rank " << rank << " set " << set;
        ASSERT_EQ(schedule.steps.size(), occupied.size());
        if (!occupied.empty()) {
          EXPECT_EQ(schedule.steps.back().buffer, kBucketBuffer);
          EXPECT_EQ(schedule.steps.back().target, kBucketBuffer);
        }
      }
    }
  }
}

TEST(SlotSchedule, NeedsOneBufferPerLevelBesideTheBucket) {
  for (int slots = 1; slots <= 64; slots *= 2) {
    std::vector<int> occupied(static_cast<size_t>(slots));
    for (int i = 0; i < slots; ++i) occupied[static_cast<size_t>(i)] = i;
    const int levels = std::countr_zero(static_cast<unsigned>(slots));
    EXPECT_EQ(schedule_slots(64, 0, slots, occupied).buffers, 1 + levels);
  }
}

TEST(SlotSchedule, ARankWithoutSamplesContributesTheNeutralBucket) {
  const SlotSchedule schedule = schedule_slots(16, 0, 4, {});
  EXPECT_EQ(schedule.operands, std::vector<int>{kBucketBuffer});
  EXPECT_EQ(schedule.neutral, std::vector<int>{kBucketBuffer});
  EXPECT_EQ(schedule.buffers, 1);
}

}  // namespace
}  // namespace lockstep::parallel

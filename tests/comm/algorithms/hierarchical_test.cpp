#include "comm/algorithms/hierarchical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

ReductionShape shape_of(int ranks, int ranks_per_node, int64_t count) {
  ReductionShape shape{.size = ranks, .count = count, .chunk_count = 1024, .layout = dealt_leaves(16, ranks)};
  shape.ranks_per_node = ranks_per_node;
  return shape;
}

int64_t steps_of(const Plan& plan, StepKind kind) {
  return std::ranges::count(plan.steps, kind, &Step::kind);
}

TEST(Hierarchical, IsWellFormed) {
  for (const auto& [ranks, ranks_per_node] :
       {std::pair(2, 2), {3, 3}, {4, 2}, {6, 2}, {6, 3}, {8, 4}, {12, 3}, {3, 1}}) {
    for (const int64_t count : {0, 1, 63, 64, 65, 5000, 20000}) {
      EXPECT_EQ(test::check_plans(test::plans_of(hierarchical, shape_of(ranks, ranks_per_node, count))), "")
          << ranks << " ranks, " << ranks_per_node << " a node, count " << count;
    }
  }
}

TEST(Hierarchical, SendsNoElementOnOneNode) {
  for (const int ranks : {2, 3, 8}) {
    for (const Plan& plan : test::plans_of(hierarchical, shape_of(ranks, ranks, 5000))) {
      EXPECT_TRUE(plan.reaches_peers);
      EXPECT_EQ(test::elements_sent(plan), 0);
      EXPECT_EQ(steps_of(plan, StepKind::kPublish), ranks - 1);
      EXPECT_EQ(steps_of(plan, StepKind::kSignal), ranks - 1);
    }
  }
}

TEST(Hierarchical, TellsNobodyThatItIsDoneBeforeItHasFoundTheirMemory) {
  // A peer may free its memory once everybody is done, even where there was no element to sum.
  for (const Plan& plan : test::plans_of(hierarchical, shape_of(2, 2, 0))) {
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].kind != StepKind::kSignal) continue;
      EXPECT_EQ(plan.dependency_counts[s], 1);
    }
  }
}

TEST(Hierarchical, SharesTheWireAmongTheRanksOfANode) {
  const int64_t count = 64000;
  for (const auto& [ranks, ranks_per_node] : {std::pair(4, 2), {8, 2}, {8, 4}, {16, 4}}) {
    const int nodes = ranks / ranks_per_node;
    for (const Plan& plan : test::plans_of(hierarchical, shape_of(ranks, ranks_per_node, count))) {
      EXPECT_NEAR(static_cast<double>(test::elements_sent(plan)),
                  2.0 * (nodes - 1) / nodes * static_cast<double>(count) / ranks_per_node, 64 * 16)
          << ranks << " ranks, " << ranks_per_node << " a node";
    }
  }
}

TEST(Hierarchical, KeepsScratchMemoryWhateverTheCount) {
  const Plan few = hierarchical(shape_of(8, 4, 100000));
  const Plan many = hierarchical(shape_of(8, 4, 10000000));
  EXPECT_LE(many.scratch_count, few.scratch_count * 5 / 4);
}

}  // namespace
}  // namespace lockstep::comm

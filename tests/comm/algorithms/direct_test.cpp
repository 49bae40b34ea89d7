#include "comm/algorithms/direct.h"

#include <gtest/gtest.h>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(Direct, SendsEveryOperandToEveryRankInOneRound) {
  for (int ranks = 2; ranks <= 7; ++ranks) {
    const ReductionShape shape{
        .size = ranks, .count = 50, .chunk_count = 8, .layout = dealt_leaves(8, ranks)};
    const std::vector<Plan> plans = test::plans_of(direct, shape);
    EXPECT_EQ(test::check_plans(plans), "");
    for (int rank = 0; rank < ranks; ++rank) {
      const auto operands = static_cast<int64_t>(shape.layout.subtrees(rank).size());
      EXPECT_EQ(test::messages_sent(plans[rank]), (ranks - 1) * operands);
      EXPECT_EQ(test::elements_sent(plans[rank]), (ranks - 1) * operands * 50);
    }
  }
}

TEST(Direct, HasNothingToDoForNothing) {
  EXPECT_TRUE(direct({.size = 3, .count = 0, .layout = one_leaf_each(3)}).steps.empty());
}

}  // namespace
}  // namespace lockstep::comm

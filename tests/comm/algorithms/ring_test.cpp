#include "comm/algorithms/ring.h"

#include <gtest/gtest.h>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(Ring, IsWellFormed) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    for (const int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 500}) {
      for (const bool scatter : {false, true}) {
        const ReductionShape shape{.size = ranks,
                                   .count = count,
                                   .chunk_count = 9,
                                   .layout = dealt_leaves(16, ranks),
                                   .scatter = scatter};
        EXPECT_EQ(test::check_plans(test::plans_of(ring, shape)), "") << ranks << " ranks, count " << count;
      }
    }
  }
}

TEST(Ring, SendsAsFewBytesAsCanBe) {
  for (int ranks = 2; ranks <= 13; ++ranks) {
    const int64_t count = 100 * ranks;
    const ReductionShape shape{
        .size = ranks, .count = count, .chunk_count = 1000, .layout = one_leaf_each(ranks)};
    for (const Plan& plan : test::plans_of(ring, shape)) {
      EXPECT_EQ(test::elements_sent(plan), 2 * (ranks - 1) * count / ranks);
      EXPECT_EQ(test::messages_sent(plan), 2 * (ranks - 1));
    }
  }
}

TEST(Ring, TalksToNeighboursOnly) {
  const Plan plan =
      ring({.rank = 0, .size = 5, .count = 50, .chunk_count = 1000, .layout = one_leaf_each(5)});
  for (const Step& step : plan.steps) {
    EXPECT_TRUE(step.kind != StepKind::kSend || step.peer == 1);
    EXPECT_TRUE(step.kind != StepKind::kReceive || step.peer == 4);
  }
}

}  // namespace
}  // namespace lockstep::comm

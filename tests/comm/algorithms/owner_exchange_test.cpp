#include "comm/algorithms/owner_exchange.h"

#include <gtest/gtest.h>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(OwnerExchange, IsWellFormed) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    for (const int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 500}) {
      for (const LeafLayout& layout : {one_leaf_each(ranks), dealt_leaves(16, ranks)}) {
        for (const bool scatter : {false, true}) {
          const ReductionShape shape{
              .size = ranks, .count = count, .chunk_count = 9, .layout = layout, .scatter = scatter};
          EXPECT_EQ(test::check_plans(test::plans_of(owner_exchange, shape)), "")
              << ranks << " ranks, count " << count;
        }
      }
    }
  }
}

TEST(OwnerExchange, SendsTwoTimesTheForeignChunks) {
  for (int ranks = 2; ranks <= 13; ++ranks) {
    const int64_t count = 60 * ranks;
    const ReductionShape shape{
        .size = ranks, .count = count, .chunk_count = 1000, .layout = one_leaf_each(ranks)};
    for (const Plan& plan : test::plans_of(owner_exchange, shape)) {
      EXPECT_EQ(test::elements_sent(plan), 2 * (ranks - 1) * count / ranks);
      EXPECT_EQ(test::messages_sent(plan), 2 * (ranks - 1));
    }
  }
}

TEST(OwnerExchange, SendsEachOperandOnceAndTheResultOnce) {
  const ReductionShape shape{.size = 3, .count = 300, .chunk_count = 1000, .layout = dealt_leaves(16, 3)};
  const std::vector<Plan> plans = test::plans_of(owner_exchange, shape);
  EXPECT_EQ(test::elements_sent(plans[0]), (2 + 1) * 200);  // leaves 0-3, 4
  EXPECT_EQ(test::elements_sent(plans[1]), (3 + 1) * 200);  // leaves 5, 6-7, 8-9
  EXPECT_EQ(test::elements_sent(plans[2]), (2 + 1) * 200);  // leaves 10-11, 12-15
}

TEST(OwnerExchange, AScatterSendsHalf) {
  const ReductionShape shape{
      .size = 4, .count = 400, .chunk_count = 1000, .layout = one_leaf_each(4), .scatter = true};
  for (const Plan& plan : test::plans_of(owner_exchange, shape)) EXPECT_EQ(test::elements_sent(plan), 300);
}

}  // namespace
}  // namespace lockstep::comm

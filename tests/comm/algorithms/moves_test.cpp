#include "comm/algorithms/moves.h"

#include <gtest/gtest.h>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(AllGather, SendsEachRankItsOwnToAll) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto plans = test::plans_of(ranks, [&](int rank) { return all_gather(rank, ranks, 7); });
    for (const Plan& plan : plans) EXPECT_EQ(test::elements_sent(plan), 7 * (ranks - 1));
  }
}

TEST(Broadcast, IsWellFormedFromEveryRoot) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    for (int root = 0; root < ranks; ++root) {
      for (const int64_t count : {0, 1, 100}) {
        const auto plans = test::plans_of(ranks, [&](int rank) {
          return broadcast({rank, ranks, root, count, 10});
        });
        EXPECT_EQ(test::check_plans(plans), "");
        int64_t sent = 0;
        for (const Plan& plan : plans) sent += test::elements_sent(plan);
        EXPECT_EQ(sent, (ranks - 1) * count);
      }
    }
  }
}

TEST(Broadcast, TheRootSendsLogarithmicallyManyCopies) {
  EXPECT_EQ(test::messages_sent(broadcast({3, 8, 3, 10, 100})), 3);
  EXPECT_EQ(test::messages_sent(broadcast({3, 9, 3, 10, 100})), 4);
}

TEST(Barrier, EveryRankHearsFromEveryOther) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto plans = test::plans_of(ranks, [&](int rank) { return barrier(rank, ranks); });
    EXPECT_EQ(test::check_plans(plans), "");
    for (const Plan& plan : plans) EXPECT_EQ(test::elements_sent(plan), ranks - 1);
  }
}

}  // namespace
}  // namespace lockstep::comm

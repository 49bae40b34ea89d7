#include "comm/algorithms/halving_doubling.h"

#include <gtest/gtest.h>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(HalvingDoubling, IsWellFormed) {
  for (const int ranks : {2, 3, 4, 6, 8, 16}) {
    for (const int64_t count : {0, 1, ranks - 1, ranks, ranks + 1, 3000}) {
      const ReductionShape shape{
          .size = ranks, .count = count, .chunk_count = 300, .layout = dealt_leaves(16, ranks)};
      EXPECT_EQ(test::check_plans(test::plans_of(halving_doubling, shape)), "")
          << ranks << " ranks, count " << count;
    }
  }
}

TEST(HalvingDoubling, SendsAsFewBytesAsCanBe) {
  for (const int ranks : {2, 4, 8, 16, 32}) {
    const int64_t count = 1000 * ranks;
    const ReductionShape shape{
        .size = ranks, .count = count, .chunk_count = 3000, .layout = one_leaf_each(ranks)};
    for (const Plan& plan : test::plans_of(halving_doubling, shape)) {
      EXPECT_EQ(test::elements_sent(plan), 2 * (ranks - 1) * count / ranks);
    }
  }
}

TEST(HalvingDoubling, SendsLessThanLogRElementsMoreWhereTheCountDoesNotDivide) {
  for (int64_t count = 1; count < 300; count += 7) {
    const ReductionShape shape{.size = 8, .count = count, .chunk_count = 1000, .layout = one_leaf_each(8)};
    for (const Plan& plan : test::plans_of(halving_doubling, shape)) {
      EXPECT_LT(test::elements_sent(plan), 2 * 7 * count / 8 + 3 + 1) << "count " << count;
    }
  }
}

TEST(HalvingDoubling, TakesTwoRoundsPerBitOfTheRank) {
  const ReductionShape shape{.size = 8, .count = 800, .chunk_count = 1000, .layout = one_leaf_each(8)};
  for (const Plan& plan : test::plans_of(halving_doubling, shape)) EXPECT_EQ(test::messages_sent(plan), 6);
}

TEST(HalvingDoubling, MeetsPartnersInTreeOrder) {
  const Plan plan =
      halving_doubling({.rank = 5, .size = 8, .count = 80, .chunk_count = 1000, .layout = one_leaf_each(8)});
  std::vector<int> partners;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kSend) partners.push_back(step.peer);
  }
  EXPECT_EQ(partners, (std::vector<int>{4, 7, 1, 1, 7, 4}));
}

}  // namespace
}  // namespace lockstep::comm

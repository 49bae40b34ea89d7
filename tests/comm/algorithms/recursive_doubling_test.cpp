#include "comm/algorithms/recursive_doubling.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

TEST(RecursiveDoubling, IsWellFormed) {
  for (const int ranks : {2, 3, 4, 6, 8, 16}) {
    for (const int64_t count : {0, 1, 299, 300, 301, 3000}) {
      const ReductionShape shape{
          .size = ranks, .count = count, .chunk_count = 300, .layout = dealt_leaves(16, ranks)};
      EXPECT_EQ(test::check_plans(test::plans_of(recursive_doubling, shape)), "")
          << ranks << " ranks, count " << count;
    }
  }
}

TEST(RecursiveDoubling, SendsTheWholeBufferOncePerBitOfTheRank) {
  for (const int ranks : {2, 4, 8, 16, 32}) {
    const int rounds = std::countr_zero(static_cast<unsigned>(ranks));
    for (const int pieces : {1, 3, 9}) {
      const ReductionShape shape{
          .size = ranks, .count = 100 * pieces - 1, .chunk_count = 100, .layout = one_leaf_each(ranks)};
      for (const Plan& plan : test::plans_of(recursive_doubling, shape)) {
        EXPECT_EQ(test::messages_sent(plan), rounds * pieces);
        EXPECT_EQ(test::elements_sent(plan), rounds * shape.count);
      }
    }
  }
}

TEST(RecursiveDoubling, MeetsPartnersInTreeOrderWithTheLowerLeavesOnTheLeft) {
  const Plan plan = recursive_doubling(
      {.rank = 5, .size = 8, .count = 80, .chunk_count = 1000, .layout = one_leaf_each(8)});
  std::vector<int> partners;
  std::vector<bool> own_on_the_left;
  int own = 0;  // the buffer of what this rank holds: its operand, then scratch memory
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kSend) partners.push_back(step.peer);
    if (step.kind != StepKind::kReduce) continue;
    own_on_the_left.push_back(own == 0 ? step.left.buffer == 0 : step.left.begin < step.right.begin);
    own = kScratch;
  }
  EXPECT_EQ(partners, (std::vector<int>{4, 7, 1}));
  // Scratch memory of earlier rounds lies first, so the own value is the one that begins earlier.
  EXPECT_EQ(own_on_the_left, (std::vector<bool>{false, true, false}));
}

TEST(RecursiveDoubling, OtherNumbersOfRanksTakeOneRoundForAChunkAndSendFewBytesAbove) {
  ReductionShape shape{.size = 6, .count = 300, .chunk_count = 300, .layout = one_leaf_each(6)};
  for (const Plan& plan : test::plans_of(recursive_doubling, shape)) {
    EXPECT_EQ(test::messages_sent(plan), 5);
    EXPECT_EQ(test::elements_sent(plan), 5 * 300);
  }
  shape.count = 3000;
  for (const Plan& plan : test::plans_of(recursive_doubling, shape)) {
    EXPECT_EQ(test::elements_sent(plan), 2 * 5 * 3000 / 6);
  }
}

TEST(RecursiveDoubling, KeepsScratchMemoryWhateverTheCount) {
  const auto plan = [](int64_t count) {
    return recursive_doubling({.size = 8, .count = count, .chunk_count = 1000, .layout = one_leaf_each(8)});
  };
  EXPECT_EQ(plan(1'000'000).scratch_count, plan(4000).scratch_count);
}

}  // namespace
}  // namespace lockstep::comm

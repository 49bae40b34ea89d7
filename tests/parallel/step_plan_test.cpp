#include "parallel/step_plan.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::parallel {
namespace {

TEST(StepPlan, EverySampleIsInExactlyOneMicroBatchForAnyNumberOfRanks) {
  for (const int64_t samples : {0, 1, 3, 31, 32, 33, 100, 128, 1000}) {
    for (int ranks = 1; ranks <= 16; ++ranks) {
      std::vector<int> seen(static_cast<size_t>(samples), 0);
      std::vector<int> slot_of(static_cast<size_t>(samples), -1);
      for (int rank = 0; rank < ranks; ++rank) {
        const StepPlan plan = plan_step(samples, 32, 16, ranks, rank);
        EXPECT_EQ(plan.micro_batches, (samples + 31) / 32);
        for (const Slot& slot : plan.slots) {
          EXPECT_GE(slot.index, plan.first_slot);
          EXPECT_LT(slot.index, plan.last_slot);
          for (const MicroBatch& micro_batch : slot.micro_batches) {
            EXPECT_EQ(micro_batch.first, micro_batch.index * 32);
            for (int64_t s = micro_batch.first; s < micro_batch.first + micro_batch.count; ++s) {
              ++seen[static_cast<size_t>(s)];
              slot_of[static_cast<size_t>(s)] = slot.index;
            }
          }
        }
      }
      for (const int count : seen) EXPECT_EQ(count, 1);
      // The slot of a sample does not depend on the number of ranks.
      const int64_t micro_batches = (samples + 31) / 32;
      for (int64_t s = 0; s < samples; ++s) {
        const int slot = slot_of[static_cast<size_t>(s)];
        EXPECT_LE(slot * micro_batches / 16, s / 32);
        EXPECT_GT((slot + 1) * micro_batches / 16, s / 32);
      }
    }
  }
}

TEST(StepPlan, LastMicroBatchIsShort) {
  const StepPlan plan = plan_step(70, 32, 1, 1, 0);
  ASSERT_EQ(plan.slots.size(), 1U);
  ASSERT_EQ(plan.slots[0].micro_batches.size(), 3U);
  EXPECT_EQ(plan.slots[0].micro_batches[2].count, 6);
}

TEST(StepPlan, ARankMayHaveNoSamples) {
  const StepPlan plan = plan_step(20, 32, 16, 4, 0);
  EXPECT_TRUE(plan.slots.empty());
  EXPECT_EQ(plan.samples, 20);
}

TEST(StepPlan, MoreRanksThanSlotsIsRefused) {
  try {
    plan_step(100, 10, 4, 5, 0);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("5 ranks need virtual_ranks >= 5, got 4"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::parallel

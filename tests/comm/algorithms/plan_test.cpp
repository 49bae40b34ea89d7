#include "comm/algorithms/plan.h"

#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

TEST(PlanBuilder, KeepsDependenciesAndTheirDirection) {
  PlanBuilder builder;
  const Region all{0, 0, 4};
  const StepId sent = builder.send(1, 0, all);
  const StepId received = builder.receive(1, 0, builder.scratch(4), {kNoStep});
  builder.reduce(all, {kScratch, 0, 4}, all, {sent, received});
  const Plan plan = builder.finish();
  EXPECT_EQ(plan.dependency_counts, (std::vector<int>{0, 0, 2}));
  EXPECT_EQ(plan.successor_offsets, (std::vector<int>{0, 1, 2, 2}));
  EXPECT_EQ(plan.successors, (std::vector<StepId>{2, 2}));
  EXPECT_EQ(plan.scratch_count, 4);
}

TEST(PlanBuilder, LeavesOutWhatIsEmpty) {
  PlanBuilder builder;
  EXPECT_EQ(builder.send(1, 0, {0, 5, 0}), kNoStep);
  EXPECT_EQ(builder.reduce({0, 0, 0}, {1, 0, 0}, {0, 0, 0}), kNoStep);
  EXPECT_TRUE(builder.finish().steps.empty());
}

TEST(Pieces, AreNearTheWantedSizeAndNeverRunOutOfTags) {
  EXPECT_EQ(piece_count(0, 100, 2), 1);
  EXPECT_EQ(piece_count(100, 100, 2), 1);
  EXPECT_EQ(piece_count(101, 100, 2), 2);
  EXPECT_EQ(piece_count(int64_t{1} << 40, 1, 8), Plan::kTagEnd / 8);
}

TEST(Pieces, EndOnUnitsAndCoverAll) {
  int64_t next = 0;
  for (int p = 0; p < 3; ++p) {
    const Range piece = piece_of(100, 3, p, 16);
    EXPECT_EQ(piece.begin, next);
    EXPECT_EQ(piece.begin % 16, 0);
    next = piece.end;
  }
  EXPECT_EQ(next, 100);
  EXPECT_EQ(piece_of(5, 3, 0, 16), (Range{0, 5}));
  EXPECT_EQ(piece_of(5, 3, 2, 16), (Range{5, 5}));
}

}  // namespace
}  // namespace lockstep::comm

#include "train/best_so_far.h"

#include <gtest/gtest.h>

#include <limits>

namespace lockstep::train {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BestSoFar, LowerIsBetterForALoss) {
  BestSoFar best({});
  EXPECT_FALSE(best.known());
  EXPECT_TRUE(best.update(0.5, 10));
  EXPECT_FALSE(best.update(0.5, 20)) << "no better";
  EXPECT_TRUE(best.update(0.4, 30));
  EXPECT_FALSE(best.update(0.45, 40));
  EXPECT_EQ(best.value(), 0.4);
  EXPECT_EQ(best.step(), 30);
}

TEST(BestSoFar, HigherIsBetterForAnAccuracy) {
  BestSoFar best({.higher_is_better = true});
  EXPECT_TRUE(best.update(0.5, 1));
  EXPECT_TRUE(best.update(0.6, 2));
  EXPECT_FALSE(best.update(0.55, 3));
}

TEST(BestSoFar, ThePatienceIsUsedUpByEvaluationsInARow) {
  BestSoFar best({.patience = 2});
  best.update(1, 1);
  best.update(2, 2);
  EXPECT_FALSE(best.exhausted());
  best.update(0.5, 3);
  best.update(0.6, 4);
  EXPECT_FALSE(best.exhausted());
  best.update(0.5, 5);
  EXPECT_TRUE(best.exhausted());
}

TEST(BestSoFar, WithoutPatienceNothingIsEver) {
  BestSoFar best({});
  for (int64_t step = 0; step < 100; ++step) best.update(1, step);
  EXPECT_FALSE(best.exhausted());
}

TEST(BestSoFar, ASmallChangeIsNoImprovement) {
  BestSoFar best({.min_improvement = 0.125});
  best.update(1, 1);
  EXPECT_FALSE(best.update(0.875, 2)) << "exactly the least change is not more than it";
  EXPECT_TRUE(best.update(0.75, 3));
}

TEST(BestSoFar, NanIsNeverTheBest) {
  BestSoFar best({.patience = 2});
  EXPECT_FALSE(best.update(kNan, 1));
  EXPECT_FALSE(best.known());
  EXPECT_TRUE(best.update(1, 2));
  EXPECT_FALSE(best.update(kNan, 3));
  EXPECT_FALSE(best.update(kNan, 4));
  EXPECT_TRUE(best.exhausted());
}

TEST(BestSoFar, GoesOnAsItWasSaved) {
  BestSoFar before({.patience = 2});
  before.update(1, 1);
  before.update(2, 2);
  BestSoFar after({.patience = 2});
  after.restore(before.state());
  EXPECT_EQ(after.value(), 1);
  EXPECT_FALSE(after.update(3, 3));
  EXPECT_TRUE(after.exhausted());
}

}  // namespace
}  // namespace lockstep::train

#include "ops/elementwise/broadcast.h"

#include <gtest/gtest.h>

namespace lockstep::ops {
namespace {

std::vector<int64_t> used(const int64_t* values, const BroadcastPlan& plan) {
  return {values, values + plan.ndim};
}

TEST(Broadcast, ContiguousOperandsBecomeOneRun) {
  const Tensor x = Tensor::zeros({2, 3, 4, 5});
  const BroadcastPlan plan = plan_broadcast(x.shape(), x, x);
  EXPECT_EQ(used(plan.extents, plan), (std::vector<int64_t>{120}));
  EXPECT_EQ(used(plan.a_strides, plan), (std::vector<int64_t>{1}));
  EXPECT_EQ(plan.outer_count(), 1);
}

TEST(Broadcast, ChannelBiasBecomesThreeDimensions) {
  const Tensor x = Tensor::zeros({2, 3, 4, 5});
  const BroadcastPlan plan = plan_broadcast(x.shape(), x, Tensor::zeros({3, 1, 1}));
  EXPECT_EQ(used(plan.extents, plan), (std::vector<int64_t>{2, 3, 20}));
  EXPECT_EQ(used(plan.a_strides, plan), (std::vector<int64_t>{60, 20, 1}));
  EXPECT_EQ(used(plan.b_strides, plan), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(plan.outer_count(), 6);
  EXPECT_EQ(plan.inner_extent(), 20);
}

TEST(Broadcast, ScalarRowAndTransposedOperands) {
  const Tensor x = Tensor::zeros({4, 5});
  EXPECT_EQ(plan_broadcast(x.shape(), x, Tensor::scalar(1)).ndim, 1);
  const BroadcastPlan transposed = plan_broadcast({4, 5}, x, Tensor::zeros({5, 4}).permute({1, 0}));
  EXPECT_EQ(used(transposed.b_strides, transposed), (std::vector<int64_t>{1, 4}));
  const BroadcastPlan scalars = plan_broadcast({}, Tensor::scalar(1), Tensor::scalar(2));
  EXPECT_EQ(used(scalars.extents, scalars), (std::vector<int64_t>{1}));
  EXPECT_EQ(plan_contiguous(7).inner_extent(), 7);
}

TEST(Broadcast, EmptyResultHasNothingToVisit) {
  const Tensor x = Tensor::zeros({2, 0, 3});
  const BroadcastPlan plan = plan_broadcast(x.shape(), x, Tensor::zeros({3}));
  EXPECT_EQ(plan.outer_count() * plan.inner_extent(), 0);
}

}  // namespace
}  // namespace lockstep::ops

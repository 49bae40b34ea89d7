#include "comm/host/plan_cache.h"

#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

Call call_of(Collective kind, int64_t count) {
  Call call;
  call.kind = kind;
  call.dtype = DType::kF32;
  call.count = count;
  call.leaves = 4;
  return call;
}

TEST(PlanCache, PlansACallOnce) {
  PlanCache cache(1, 4, parse_selection("halving_doubling", true), 1024);
  Call call = call_of(Collective::kAllReduce, 100);
  const auto plan = cache.plan_for(call);
  call.op = ReduceOp::kMax;
  call.sequence = 8;
  call.options.label = "another";
  EXPECT_EQ(cache.plan_for(call), plan);
}

TEST(PlanCache, TellsShapesApart) {
  PlanCache cache(1, 4, parse_selection("halving_doubling", true), 1024);
  const Call call = call_of(Collective::kBroadcast, 100);
  const auto plan = cache.plan_for(call);
  Call other = call;
  other.kind = Collective::kAllGather;
  EXPECT_NE(cache.plan_for(other), plan);
  other = call;
  other.count = 101;
  EXPECT_NE(cache.plan_for(other), plan);
  other = call;
  other.root = 2;
  EXPECT_NE(cache.plan_for(other), plan);
  other = call;
  other.dtype = DType::kF16;  // pieces are cut by bytes
  EXPECT_NE(cache.plan_for(other), plan);
}

TEST(PlanCache, PlansBlocksOfACodec) {
  PlanCache cache(0, 2, parse_selection("halving_doubling", true), 1 << 20);
  Call call = call_of(Collective::kAllReduce, 3 * 1024 + 1);
  const auto plan = cache.plan_for(call);
  call.options.codec = Codec::kFp16;
  const auto blocks = cache.plan_for(call);
  EXPECT_NE(blocks, plan);
  EXPECT_EQ(blocks->steps[0].left.count, 2) << "half of four blocks";
  call.options.codec = Codec::kBf16;
  EXPECT_NE(cache.plan_for(call), blocks) << "its messages have other lengths";
}

TEST(PlanCache, DealsBlocksToRanksOneByOne) {
  const Selection hierarchical = parse_selection("hierarchical", true);
  PlanCache cache(1, 4, hierarchical, 1 << 20);
  cache.share(4, hierarchical);
  Call call = call_of(Collective::kAllReduce, 8 * 1024);
  call.shared = true;
  call.options.codec = Codec::kFp16;
  for (const Step& step : cache.plan_for(call)->steps) {
    if (step.kind == StepKind::kReduce) {
      EXPECT_EQ(step.target.count, 2) << "a quarter of eight blocks";
    }
  }
}

TEST(PlanCache, CutsPiecesByBytes) {
  PlanCache cache(0, 2, parse_selection("halving_doubling", true), 1024);
  const auto steps = [&](int64_t count) {
    return cache.plan_for(call_of(Collective::kTreeSum, count))->steps.size();
  };
  EXPECT_EQ(steps(256), 5U);  // one piece: out, in, add, out, in
  EXPECT_EQ(steps(257), 10U);
}

TEST(PlanCache, ChoosesByTheBytesOfAnOperand) {
  PlanCache mixed(0, 2, parse_selection("direct:0-2K;halving_doubling:2K-", true), 1 << 20);
  PlanCache direct(0, 2, parse_selection("direct", true), 1 << 20);
  const auto scratch = [](PlanCache& cache, int64_t count) {
    return cache.plan_for(call_of(Collective::kAllReduce, count))->scratch_count;
  };
  EXPECT_EQ(scratch(mixed, 512), scratch(direct, 512));
  EXPECT_LT(scratch(mixed, 513), scratch(direct, 513));
}

TEST(PlanCache, HoldsABoundedNumberOfPlans) {
  PlanCache cache(0, 2, parse_selection("direct", true), 1024);
  const std::weak_ptr<const Plan> first = cache.plan_for(call_of(Collective::kAllReduce, 0));
  for (int64_t count = 1; count < 1000; ++count) cache.plan_for(call_of(Collective::kAllReduce, count));
  EXPECT_TRUE(first.expired());
}

}  // namespace
}  // namespace lockstep::comm

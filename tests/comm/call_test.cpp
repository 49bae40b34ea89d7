#include "comm/call.h"

#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

Call call_of(Collective kind) {
  Call call;
  call.kind = kind;
  call.dtype = DType::kF32;
  call.count = 4096;
  call.sequence = 17;
  call.step = 12;
  return call;
}

TEST(Describe, NamesWhatTheRankAskedFor) {
  Call call = call_of(Collective::kAllReduce);
  EXPECT_EQ(describe(call), "all_reduce #17 (sum of 4096 f32) at step 12");
  call.options.label = "bucket 3 (conv1.weight .. fc.bias)";
  EXPECT_EQ(describe(call),
            "all_reduce #17 (sum of 4096 f32, bucket 3 (conv1.weight .. fc.bias)) at step 12");
  call.options.codec = Codec::kFp16;
  EXPECT_EQ(describe(call),
            "all_reduce #17 (sum of 4096 f32, as fp16, bucket 3 (conv1.weight .. fc.bias)) at step 12");
  call.options.codec = Codec::kNone;
  call.op = ReduceOp::kMax;
  call.kind = Collective::kReduceScatter;
  call.options.label.clear();
  EXPECT_EQ(describe(call), "reduce_scatter #17 (max of 4096 f32) at step 12");
}

TEST(Describe, NamesWhatMattersToEachKind) {
  Call call = call_of(Collective::kTreeSum);
  call.leaves = 16;
  EXPECT_EQ(describe(call), "tree_sum #17 (4096 f32 over 16 leaves) at step 12");
  EXPECT_EQ(describe(call_of(Collective::kAllGather)), "all_gather #17 (4096 f32 a rank) at step 12");
  call = call_of(Collective::kBroadcast);
  call.root = 2;
  EXPECT_EQ(describe(call), "broadcast #17 (4096 f32 from rank 2) at step 12");
  call = call_of(Collective::kBarrier);
  EXPECT_EQ(describe(call), "barrier #17 at step 12");
  call.options.label = "save";
  EXPECT_EQ(describe(call), "barrier #17 (save) at step 12");
}

TEST(ReduceOp, HasNames) {
  EXPECT_STREQ(name_of(ReduceOp::kSum), "sum");
  EXPECT_STREQ(name_of(ReduceOp::kMax), "max");
  EXPECT_STREQ(name_of(ReduceOp::kMin), "min");
}

}  // namespace
}  // namespace lockstep::comm

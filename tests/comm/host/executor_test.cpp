#include "comm/host/executor.h"

#include <gtest/gtest.h>

#include "comm/local/local_group.h"

namespace lockstep::comm {
namespace {

class ExecutorPair : public testing::Test {
 protected:
  ExecutorPair() {
    call_.kind = Collective::kAllReduce;
    call_.dtype = DType::kF32;
    call_.operands = {{data_.data(), 4, DType::kF32}};
    call_.result = call_.operands[0];
  }

  LocalGroup group_{2};
  SharedMemory memory_;
  std::unique_ptr<Transport> zero_ = group_.transport(0);
  std::unique_ptr<Transport> one_ = group_.transport(1);
  std::vector<float> data_{1, 2, 3, 4};
  Call call_;
};

TEST_F(ExecutorPair, RunsStepsInTheOrderOfTheirDependencies) {
  PlanBuilder builder;
  const Region all{0, 0, 4};
  const Region copy = builder.scratch(4);
  const StepId first = builder.copy(all, copy);
  const StepId doubled = builder.reduce(copy, copy, all, {first});
  builder.reduce(all, copy, all, {doubled});
  const Plan plan = builder.finish();
  Executor executor(*zero_, memory_, 1000);
  executor.start(plan, call_, 0);
  while (!executor.finished()) EXPECT_TRUE(executor.advance());
  EXPECT_EQ(data_, (std::vector<float>{3, 6, 9, 12}));
}

TEST_F(ExecutorPair, CutsLongTransfersAndCountsThem) {
  PlanBuilder sending;
  sending.send(1, 3, {0, 0, 4});
  const Plan send_plan = sending.finish();
  PlanBuilder receiving;
  receiving.receive(0, 3, {kResult, 0, 4});
  const Plan receive_plan = receiving.finish();

  std::vector<float> received(4);
  Call receive_call = call_;
  receive_call.result = {received.data(), 4, DType::kF32};
  Executor sender(*zero_, memory_, 7);
  Executor receiver(*one_, memory_, 7);
  sender.start(send_plan, call_, 0);
  receiver.start(receive_plan, receive_call, 0);
  while (!sender.finished() || !receiver.finished()) {
    sender.advance();
    receiver.advance();
  }
  EXPECT_EQ(received, data_);
  EXPECT_EQ(sender.traffic().bytes, 16U);
  EXPECT_EQ(sender.traffic().messages, 3U);  // 7 + 7 + 2
  EXPECT_EQ(receiver.traffic().messages, 0U);
}

TEST_F(ExecutorPair, AnEmptyPlanIsFinished) {
  Executor executor(*zero_, memory_, 1000);
  const Plan plan = PlanBuilder().finish();
  executor.start(plan, call_, 0);
  EXPECT_TRUE(executor.finished());
  EXPECT_FALSE(executor.advance());
}

TEST(Executor, MissingAreThoseWhoHaveSentNothing) {
  LocalGroup group(4);
  SharedMemory memory;
  const auto zero = group.transport(0);
  const auto one = group.transport(1);
  PlanBuilder builder;
  for (const int peer : {1, 2, 3}) {
    builder.receive(peer, 0, builder.scratch(1));
    builder.receive(peer, 1, builder.scratch(1));
  }
  const Plan plan = builder.finish();
  Call call;
  Executor executor(*zero, memory, 1000);
  executor.start(plan, call, 0);
  executor.advance();
  EXPECT_EQ(executor.missing_peers(), (std::vector<int>{1, 2, 3}));
  const uint8_t byte = 1;
  one->send(0, 0, &byte, 1, 0);
  executor.advance();
  EXPECT_EQ(executor.missing_peers(), (std::vector<int>{2, 3}));
  for (const int rank : {2, 3}) {
    const auto peer = group.transport(rank);
    peer->send(0, 0, &byte, 1, 0);
  }
  executor.advance();
  EXPECT_EQ(executor.missing_peers(), (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace lockstep::comm

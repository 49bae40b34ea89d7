#include "comm/host/operation_queue.h"

#include <gtest/gtest.h>

#include "comm/algorithms/moves.h"
#include "comm/local/local_group.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

std::shared_ptr<Operation> barrier_of(int rank, uint64_t sequence) {
  auto operation = std::make_shared<Operation>();
  operation->call.sequence = sequence;
  operation->plan = std::make_shared<const Plan>(barrier(rank, 2));
  return operation;
}

class QueuePair : public testing::Test {
 protected:
  static constexpr OperationQueue::Options kOptions{.max_message_bytes = 1000};
  LocalGroup group_{2};
  SharedMemory memory_;
  std::atomic<int> unfinished_{0};
  OperationQueue zero_{group_.transport(0), memory_, kOptions, unfinished_};
  OperationQueue one_{group_.transport(1), memory_, kOptions, unfinished_};
};

TEST_F(QueuePair, CarriesOutOperationsInOrder) {
  std::vector<std::shared_ptr<Operation>> of_zero;
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    of_zero.push_back(barrier_of(0, sequence));
    zero_.push(of_zero.back());
  }
  EXPECT_EQ(unfinished_, 3);
  EXPECT_TRUE(zero_.is_front(*of_zero[0]));
  zero_.advance();
  EXPECT_EQ(zero_.describe_front(), "rank 0: barrier #1 at step 0, waiting for rank 1");
  for (uint64_t sequence = 1; sequence <= 3; ++sequence) {
    one_.push(barrier_of(1, sequence));
    for (int round = 0; round < 5; ++round) {
      zero_.advance();
      one_.advance();
    }
    for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(of_zero[i]->done, i < sequence);
  }
  EXPECT_TRUE(zero_.empty());
  EXPECT_EQ(zero_.describe_front(), "");
  EXPECT_EQ(unfinished_, 0);
}

TEST_F(QueuePair, AFailureEndsAllOperationsAndThoseToCome) {
  const auto first = barrier_of(0, 1);
  const auto second = barrier_of(0, 2);
  zero_.push(first);
  zero_.push(second);
  zero_.fail("the link is cut");
  for (const auto& operation : {first, second}) {
    EXPECT_TRUE(operation->done);
    EXPECT_THROW(std::rethrow_exception(operation->error), CommError);
  }
  EXPECT_THROW(zero_.push(barrier_of(0, 3)), CommError);
  EXPECT_EQ(unfinished_, 0);
}

TEST_F(QueuePair, AFailedPeerIsNoticedAndNamed) {
  const auto operation = barrier_of(0, 1);
  zero_.push(operation);
  zero_.advance();
  group_.abort(1, "disk full");
  zero_.advance();
  ASSERT_TRUE(operation->done);
  try {
    std::rethrow_exception(operation->error);
  } catch (const CommError& error) {
    EXPECT_STREQ(error.what(),
                 "[barrier] rank 0: barrier #1 at step 0, waiting for rank 1: rank 1 failed: disk full");
  }
}

TEST(OperationQueue, TellsPeersWhenItIsDestroyedWithWorkLeft) {
  LocalGroup group(2);
  SharedMemory memory;
  std::atomic<int> unfinished{0};
  const auto peer = group.transport(1);
  {
    OperationQueue queue(group.transport(0), memory, {.max_message_bytes = 1000}, unfinished);
    queue.push(barrier_of(0, 1));
  }
  std::vector<int> finished;
  EXPECT_THROW(peer->poll(finished), CommError);
  EXPECT_EQ(unfinished, 0);
}

}  // namespace
}  // namespace lockstep::comm

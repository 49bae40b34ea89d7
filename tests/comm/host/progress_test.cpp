#include "comm/host/progress.h"

#include <gtest/gtest.h>

#include "comm/algorithms/moves.h"
#include "comm/local/local_group.h"

namespace lockstep::comm {
namespace {

std::shared_ptr<Operation> barrier_of(int rank) {
  auto operation = std::make_shared<Operation>();
  operation->plan = std::make_shared<const Plan>(barrier(rank, 2));
  return operation;
}

TEST(ProgressEngine, ItsThreadCarriesOutOperationsByItself) {
  LocalGroup group(2);
  SharedMemory memory;
  ProgressEngine engine({.own_thread = true, .spins = 10});
  EXPECT_TRUE(engine.has_thread());
  OperationQueue zero(group.transport(0), memory, {.max_message_bytes = 1000}, engine.unfinished());
  OperationQueue one(group.transport(1), memory, {.max_message_bytes = 1000}, engine.unfinished());
  const auto first = barrier_of(0);
  const auto second = barrier_of(1);
  {
    const auto lock = engine.lock();
    engine.attach(zero);
    engine.attach(one);
    zero.push(first);
    one.push(second);
    engine.notify();
  }
  while (!first->done || !second->done) std::this_thread::yield();
  const auto lock = engine.lock();
  engine.detach(zero);
  engine.detach(one);
}

TEST(ProgressEngine, ARoundWithoutWorkOrLockDoesNothing) {
  LocalGroup group(2);
  SharedMemory memory;
  ProgressEngine engine({});
  EXPECT_FALSE(engine.try_round());
  OperationQueue queue(group.transport(0), memory, {.max_message_bytes = 1000}, engine.unfinished());
  {
    const auto lock = engine.lock();
    engine.attach(queue);
    queue.push(barrier_of(0));
    std::thread other([&] { EXPECT_FALSE(engine.try_round()); });
    other.join();
  }
  EXPECT_TRUE(engine.try_round());   // the messages leave
  EXPECT_FALSE(engine.try_round());  // and now the peer is missing
  const auto lock = engine.lock();
  engine.detach(queue);
}

}  // namespace
}  // namespace lockstep::comm

#include "comm/work.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm {
namespace {

TEST(Work, IsDoneWhenThereIsNothingToDo) {
  Work work;
  EXPECT_TRUE(work.done());
  work.wait();
}

TEST(Work, KnowsWhenItEnded) {
  EXPECT_EQ(Work().end(), std::chrono::steady_clock::time_point());
  lockstep::test::run_ranks(2, [](Communicator& comm) {
    int64_t value = 1;
    const auto start = std::chrono::steady_clock::now();
    Work work = comm.all_reduce({&value, 1, DType::kI64}, ReduceOp::kSum);
    work.wait();
    EXPECT_GE(work.end(), start);
    EXPECT_LE(work.end(), std::chrono::steady_clock::now());
  });
}

TEST(Work, MayBeCopiedDroppedAndWaitedForTwice) {
  lockstep::test::run_ranks(2, [](Communicator& comm) {
    int64_t value = comm.rank() + 1;
    int64_t dropped = comm.rank() + 10;
    Work first = comm.all_reduce({&value, 1, DType::kI64}, ReduceOp::kSum);
    comm.all_reduce({&dropped, 1, DType::kI64}, ReduceOp::kSum);
    Work copy = first;
    copy.wait();
    copy.wait();
    first.wait();
    EXPECT_EQ(value, 3);
    comm.barrier();  // collectives finish in the order of the calls
    EXPECT_EQ(dropped, 21);
  });
}

TEST(Work, AskingMakesProgress) {
  lockstep::test::RunOptions options;
  options.host.progress = Progress::kCaller;
  lockstep::test::run_ranks(
      3,
      [](Communicator& comm) {
        std::vector<float> data(1000, 1);
        Work work = comm.all_reduce({data.data(), 1000, DType::kF32}, ReduceOp::kSum);
        while (!work.done()) std::this_thread::yield();
        EXPECT_EQ(data, std::vector<float>(1000, 3));
      },
      options);
}

TEST(Work, ThrowsItsErrorEveryTime) {
  const auto failures = lockstep::test::run_failing_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) throw Error("disk full");
    int64_t value = 1;
    Work work = comm.all_reduce({&value, 1, DType::kI64}, ReduceOp::kSum);
    EXPECT_THROW(work.wait(), CommError);
    EXPECT_TRUE(work.done());
    work.wait();
  });
  EXPECT_NE(failures[0].find("disk full"), std::string::npos) << failures[0];
}

}  // namespace
}  // namespace lockstep::comm

#include "comm/host/call_check.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm {
namespace {

using lockstep::test::run_failing_ranks;
using lockstep::test::RunOptions;

RunOptions checked() {
  RunOptions options;
  options.host.debug_checks = true;
  return options;
}

/// What two ranks say when rank 1 makes another call than rank 0, after a barrier.
std::string first_failure(const std::function<void(Communicator&)>& on_zero,
                          const std::function<void(Communicator&)>& on_one) {
  const auto failures = run_failing_ranks(
      2,
      [&](Communicator& comm) {
        comm.barrier();
        (comm.rank() == 0 ? on_zero : on_one)(comm);
      },
      checked());
  EXPECT_NE(failures[0], "");
  EXPECT_NE(failures[1], "");
  return failures[0];
}

void sum(Communicator& comm, int64_t count, DType dtype, ReduceOp op = ReduceOp::kSum) {
  std::vector<double> data(count);
  comm.all_reduce({data.data(), count, dtype}, op, {.label = "loss"}).wait();
}

TEST(CallCheck, NamesBothCallsWhereTheOperationDiffers) {
  const std::string text = first_failure([](Communicator& comm) { sum(comm, 5, DType::kF32); },
                                         [](Communicator& comm) { comm.barrier(); });
  EXPECT_NE(text.find("first difference: operation"), std::string::npos) << text;
  EXPECT_NE(text.find("all_reduce #2 (sum of 5 f32, loss) at step 0"), std::string::npos) << text;
  EXPECT_NE(text.find("called barrier #2 at step 0"), std::string::npos) << text;
}

TEST(CallCheck, ComparesDtypeCodecCountReductionRootAndLeaves) {
  const auto differs = [](const std::string& what, const auto& a, const auto& b) {
    const std::string text = first_failure(a, b);
    EXPECT_NE(text.find("first difference: " + what), std::string::npos) << text;
  };
  const auto plain = [](Communicator& comm) { sum(comm, 5, DType::kF32); };
  differs("dtype", plain, [](Communicator& comm) { sum(comm, 5, DType::kF64); });
  differs("count", plain, [](Communicator& comm) { sum(comm, 6, DType::kF32); });
  differs("reduction", plain, [](Communicator& comm) { sum(comm, 5, DType::kF32, ReduceOp::kMax); });
  differs("codec", plain, [](Communicator& comm) {
    float data[5] = {};
    comm.all_reduce({data, 5, DType::kF32}, ReduceOp::kSum, {.codec = Codec::kBf16}).wait();
  });
  const auto from = [](int root) {
    return [root](Communicator& comm) { test::check_broadcast(comm, DType::kF32, root, 3); };
  };
  differs("root", from(0), from(1));
  const auto over = [](int leaves) {
    return [leaves](Communicator& comm) { test::check_tree_sum(comm, DType::kF32, leaves, 3); };
  };
  differs("leaves", over(4), over(8));
}

TEST(CallCheck, IsNoticedOnEveryRankOfALargerGroup) {
  const auto failures = run_failing_ranks(
      5,
      [](Communicator& comm) {
        if (comm.rank() == 3)
          comm.barrier();
        else
          sum(comm, 4, DType::kF32);
      },
      checked());
  for (const std::string& failure : failures) {
    EXPECT_NE(failure.find("the ranks make different calls"), std::string::npos) << failure;
    EXPECT_NE(failure.find("rank 3 called"), std::string::npos) << failure;
  }
}

TEST(CallCheck, EqualCallsPass) {
  lockstep::test::run_ranks(
      3, [](Communicator& comm) { EXPECT_EQ(test::check_everything(comm), ""); }, checked());
}

TEST(CallCheck, NamesTheNeighbourThatDoesNotCome) {
  RunOptions options = checked();
  options.host.timeout = std::chrono::milliseconds(30);
  const auto failures = run_failing_ranks(
      3,
      [](Communicator& comm) {
        if (comm.rank() != 2) comm.barrier();
      },
      options);
  EXPECT_NE(failures[0].find("waiting for rank 2"), std::string::npos) << failures[0];
}

TEST(CallCheck, WithoutItAMismatchStillNeverMixesData) {
  RunOptions options;
  options.host.timeout = std::chrono::milliseconds(30);
  const auto failures = run_failing_ranks(
      2,
      [](Communicator& comm) {
        if (comm.rank() == 0)
          comm.barrier();
        else
          sum(comm, 1, DType::kU8);
      },
      options);
  EXPECT_NE(failures[0] + failures[1], "");
  EXPECT_NE((failures[0] + failures[1]).find("waiting for rank"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::comm

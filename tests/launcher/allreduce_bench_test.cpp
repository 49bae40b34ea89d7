#include "launcher/allreduce_bench.h"

#include <gtest/gtest.h>

#include "tests/support/run_ranks.h"

namespace lockstep::launcher {
namespace {

TEST(AllreduceBench, HasARowOfTheSlowestRanksTimesForEachAlgorithm) {
  constexpr int kRanks = 3;
  std::vector<std::vector<AllreduceRow>> rows(kRanks);
  test::run_ranks(kRanks, [&](comm::Communicator& comm) {
    AllreduceBenchOptions options;
    options.algorithms = {"auto", "direct:0-100;halving_doubling:100-"};
    options.codecs = {comm::Codec::kNone, comm::Codec::kFp16};
    options.baselines = false;
    options.seconds = 0.001;
    options.rounds = 2;
    options.iterations = 5;
    AllreduceBench bench(static_cast<comm::HostCommunicator&>(comm), options, 4096);
    rows[static_cast<size_t>(comm.rank())] = bench.measure(4094, DType::kF32);
  });
  for (const std::vector<AllreduceRow>& of_rank : rows) {
    ASSERT_EQ(of_rank.size(), 4U) << "algorithms and codecs";
    EXPECT_EQ(of_rank[0].what.algorithm, "auto");
    EXPECT_EQ(of_rank[2].what.algorithm, "direct:0-100;halving_doubling:100-");
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(of_rank[i].what.codec, i % 2 == 0 ? "none" : "fp16");
      EXPECT_EQ(of_rank[i].what.ranks, kRanks);
      EXPECT_EQ(of_rank[i].what.nbytes, 4092U) << "whole elements";
      EXPECT_EQ(of_rank[i].what.count, 1023);
      EXPECT_EQ(of_rank[i].wrong, 0);
      EXPECT_GE(of_rank[i].iterations, 6) << "three in each round";
      EXPECT_EQ(of_rank[i].p50_us, rows[0][i].p50_us) << "the same on all ranks";
    }
  }
}

TEST(AllreduceBench, LeavesOutWhatNeedsTooMuchScratchMemory) {
  test::run_ranks(2, [&](comm::Communicator& comm) {
    AllreduceBenchOptions options{.algorithms = {"direct", "halving_doubling"}, .baselines = false};
    options.seconds = 0.001;
    options.verify = false;
    options.rounds = 1;
    options.iterations = 1;
    const size_t large = size_t{257} << 20;
    AllreduceBench bench(static_cast<comm::HostCommunicator&>(comm), options, large);
    EXPECT_EQ(bench.measure(large, DType::kF32).size(), 1U);
  });
}

}  // namespace
}  // namespace lockstep::launcher

#include "comm/host/host_communicator.h"

#include <gtest/gtest.h>

#include "comm/local/local_group.h"
#include "runtime/error.h"
#include "runtime/threads.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm {
namespace {

using lockstep::test::run_failing_ranks;
using lockstep::test::run_ranks;
using lockstep::test::RunOptions;
using std::chrono::milliseconds;

std::unique_ptr<HostCommunicator> alone(const HostOptions& options) {
  LocalGroup group(1);
  return std::make_unique<HostCommunicator>(group.transport(0), options);
}

TEST(HostCommunicator, RefusesAlgorithmsThatAreNotReproducible) {
  try {
    alone({.algorithm = "ring"});
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "[comm.algorithm] \"ring\" sums in an order that depends on the number of ranks: "
        "numerics REPRODUCIBLE expects one of direct, halving_doubling, hierarchical, recursive_doubling");
  }
  EXPECT_EQ(alone({.algorithm = "ring", .numerics = Numerics::kFast})->algorithm(), "ring");
  EXPECT_EQ(alone({})->algorithm(), "auto (direct up to 256 bytes, halving_doubling above)");
  EXPECT_THROW(alone({.algorithm = "rong"}), InvalidArgument);
  EXPECT_THROW(alone({.chunk_bytes = 0}), InvalidArgument);
}

TEST(HostCommunicator, AutoTakesAThreadOnlyWhereACoreIsSpare) {
  const int cores = allowed_cores();
  EXPECT_FALSE(alone({.busy_threads = cores})->has_progress_thread());
  EXPECT_EQ(alone({.busy_threads = cores - 1})->has_progress_thread(), true);
  EXPECT_TRUE(alone({.progress = Progress::kThread, .busy_threads = 100})->has_progress_thread());
  EXPECT_FALSE(alone({.progress = Progress::kCaller, .busy_threads = 0})->has_progress_thread());
}

TEST(HostCommunicator, ARankThatAbandonsFreesItsMemoryAndTellsTheOthersWhy) {
  const auto failures = run_failing_ranks(3, [](Communicator& comm) {
    if (comm.rank() == 2) return;  // so that nothing can finish
    auto data = std::make_unique<std::vector<float>>(100000);
    const Buffer buffer{data->data(), 100000, DType::kF32};
    if (comm.rank() == 0) {
      comm.all_reduce(buffer, ReduceOp::kSum).wait();
      return;
    }
    Work work = comm.all_reduce(buffer, ReduceOp::kSum);
    comm.abandon("rank 1 has had enough");
    data.reset();
    EXPECT_TRUE(work.done());
    EXPECT_THROW(comm.barrier(), CommError);
  });
  EXPECT_NE(failures[0].find("rank 1 has had enough"), std::string::npos) << failures[0];
  EXPECT_EQ(failures[1], "");
}

TEST(HostCommunicator, ADeadlineNamesRankStepCallLabelAndWhoIsMissing) {
  const auto failures = run_failing_ranks(3, [](Communicator& comm) {
    comm.set_step(12);
    if (comm.rank() == 2) return;
    std::vector<float> data(100);
    comm.all_reduce({data.data(), 100, DType::kF32}, ReduceOp::kSum,
                    {.label = "bucket 3 (conv1.weight .. fc.bias)", .timeout = milliseconds(50)})
        .wait();
  });
  const std::string& first =
      failures[0].find("not finished within") != std::string::npos ? failures[0] : failures[1];
  EXPECT_NE(
      first.find("all_reduce #1 (sum of 100 f32, bucket 3 (conv1.weight .. fc.bias)) at step 12, waiting for "
                 "rank 2: not finished within 0.05 s"),
      std::string::npos)
      << first;
  EXPECT_EQ(first.find("[all_reduce] rank "), 0U) << first;
}

TEST(HostCommunicator, ADeadlineNamesWhatIsInTheWay) {
  const auto failures = run_failing_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) return;
    float first = 0;
    float second = 0;
    comm.all_reduce({&first, 1, DType::kF32}, ReduceOp::kSum, {.label = "first"});
    comm.all_reduce({&second, 1, DType::kF32}, ReduceOp::kSum,
                    {.label = "second", .timeout = milliseconds(20)})
        .wait();
  });
  EXPECT_NE(failures[0].find("all_reduce #1 (sum of 1 f32, first)"), std::string::npos) << failures[0];
  EXPECT_NE(failures[0].find("all_reduce #2 (sum of 1 f32, second) at step 0 waits behind it"),
            std::string::npos)
      << failures[0];
}

/// Finishes one message per poll: something happens in every round, but it takes long until all is there.
class TricklingTransport final : public Transport {
 public:
  TricklingTransport() : Transport(0, 2) {}
  void send(int, int, const void*, size_t, int token) override { started_.push_back(token); }
  void receive(int, int, void*, size_t, int token) override { started_.push_back(token); }
  void poll(std::vector<int>& finished) override {
    if (started_.empty()) return;
    finished.push_back(started_.back());
    started_.pop_back();
  }
  std::unique_ptr<Transport> split(int, const std::vector<int>&) override { return nullptr; }
  void abort(const std::string&) noexcept override {}

 private:
  std::vector<int> started_;
};

TEST(HostCommunicator, ADeadlineHoldsHoweverMuchHappensMeanwhile) {
  HostCommunicator comm(std::make_unique<TricklingTransport>(),
                        {.timeout = milliseconds(1), .progress = Progress::kCaller, .max_message_bytes = 1});
  std::vector<uint8_t> data(10'000'000);
  Work work = comm.all_reduce({data.data(), static_cast<int64_t>(data.size()), DType::kU8}, ReduceOp::kMax);
  EXPECT_THROW(work.wait(), CommError);
}

TEST(HostCommunicator, ARankThatThrowsEndsAllOthersWithItsReason) {
  const auto failures = run_failing_ranks(4, [](Communicator& comm) {
    if (comm.rank() == 2) throw DataError("[idx] train-labels: label 11 is out of range");
    comm.barrier({.label = "epoch"});
  });
  for (const int rank : {0, 1, 3}) {
    EXPECT_NE(failures[rank].find("rank 2 failed: [idx] train-labels: label 11 is out of range"),
              std::string::npos)
        << failures[rank];
    EXPECT_NE(failures[rank].find("barrier #1 (epoch)"), std::string::npos) << failures[rank];
  }
}

TEST(HostCommunicator, IsDeadAfterAnErrorAndSoAreItsParts) {
  run_failing_ranks(2, [](Communicator& comm) {
    const auto part = comm.split(0, 0);
    if (comm.rank() == 1) return;
    EXPECT_THROW(comm.barrier({.timeout = milliseconds(10)}), CommError);
    EXPECT_THROW(comm.barrier(), CommError);
    float value = 0;
    EXPECT_THROW(comm.all_reduce({&value, 1, DType::kF32}, ReduceOp::kSum), CommError);
    EXPECT_THROW(part->barrier(), CommError);
  });
}

TEST(HostCommunicator, AStopEndsAWaitAfterItsGrace) {
  const std::atomic<bool> stop{true};
  RunOptions options;
  options.host.stop = &stop;
  options.host.stop_grace = milliseconds(30);
  const auto start = std::chrono::steady_clock::now();
  const auto failures = run_failing_ranks(
      2,
      [](Communicator& comm) {
        comm.barrier();  // quick enough
        if (comm.rank() == 0) comm.barrier({.label = "save"});
      },
      options);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(30));
  EXPECT_NE(failures[0].find("barrier #2 (save) at step 0, waiting for rank 1: gave up waiting after"),
            std::string::npos)
      << failures[0];
  EXPECT_NE(failures[0].find("because the run is to stop"), std::string::npos) << failures[0];
}

TEST(HostCommunicator, ALongWaitIsReportedOnce) {
  RunOptions options;
  options.host.report_after = milliseconds(5);
  testing::internal::CaptureStderr();
  run_ranks(
      2,
      [](Communicator& comm) {
        if (comm.rank() == 1) std::this_thread::sleep_for(milliseconds(50));
        comm.barrier({.label = "start"});
      },
      options);
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string report = "rank 0: barrier #1 (start) at step 0, waiting for rank 1: still waiting after";
  EXPECT_NE(log.find(report), std::string::npos) << log;
  EXPECT_EQ(log.find(report), log.rfind(report)) << log;
}

TEST(HostCommunicator, MoreRanksThanCoresAreFine) {
  RunOptions options;
  options.host.busy_threads = 16;
  run_ranks(
      16,
      [](Communicator& comm) {
        for (int round = 0; round < 20; ++round) {
          EXPECT_EQ(test::check_all_reduce(comm, DType::kF32, ReduceOp::kSum, 1000), "");
        }
      },
      options);
}

TEST(HostCommunicator, AThreadMakesProgressWithoutItsCaller) {
  RunOptions options;
  options.host.progress = Progress::kThread;
  run_ranks(
      3,
      [](Communicator& comm) {
        std::vector<std::vector<float>> buckets(4, std::vector<float>(30'000, 1));
        std::vector<Work> works;
        for (auto& bucket : buckets)
          works.push_back(comm.all_reduce({bucket.data(), 30'000, DType::kF32}, ReduceOp::kSum));
        while (!comm.pending().empty()) std::this_thread::yield();  // only looks
        for (const auto& bucket : buckets) EXPECT_EQ(bucket, std::vector<float>(30'000, 3));
        EXPECT_EQ(test::check_everything(comm), "");
      },
      options);
}

TEST(HostCommunicator, PollingAloneMakesProgress) {
  RunOptions options;
  options.host.progress = Progress::kCaller;
  run_ranks(
      2,
      [](Communicator& comm) {
        std::vector<float> data(100'000, 1);
        comm.all_reduce({data.data(), 100'000, DType::kF32}, ReduceOp::kSum);
        while (!comm.pending().empty()) comm.poll();
        EXPECT_EQ(data, std::vector<float>(100'000, 2));
      },
      options);
}

TEST(HostCommunicator, CountsWhatItSends) {
  run_ranks(4, [](Communicator& comm) {
    std::vector<float> data(4000);
    comm.all_reduce({data.data(), 4000, DType::kF32}, ReduceOp::kSum).wait();
    EXPECT_EQ(comm.bytes_sent(), 24'000U);  // 2 * 3/4 * 16,000
    EXPECT_EQ(comm.messages_sent(), 4U);
  });
}

TEST(HostCommunicator, DestroyingItWithWorkLeftTellsTheOthers) {
  LocalGroup group(2);
  const HostOptions options{.progress = Progress::kCaller, .busy_threads = 2};
  HostCommunicator other(group.transport(1), options);
  float value = 1;
  {
    HostCommunicator unfinished(group.transport(0), options);
    unfinished.all_reduce({&value, 1, DType::kF32}, ReduceOp::kSum);
  }
  try {
    other.barrier();
    FAIL() << "no error";
  } catch (const CommError& error) {
    EXPECT_NE(std::string(error.what()).find("destroyed before all_reduce #1"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace lockstep::comm

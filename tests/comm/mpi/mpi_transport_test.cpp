// The exactness checks over MPI; run by mpi_check under mpirun, every rank running every test.
#include <gtest/gtest.h>

#include <bit>

#include "tests/comm/collective_cases.h"
#include "tests/comm/mpi/mpi_check.h"

namespace lockstep::comm::test {
namespace {

HostOptions with_algorithm(const std::string& name) {
  HostOptions options;
  options.algorithm = name;
  options.numerics = Numerics::kFast;
  options.progress = Progress::kCaller;
  return options;
}

class OverMpi : public testing::TestWithParam<std::string> {};

TEST_P(OverMpi, CollectivesAreExact) {
  const auto comm = communicator(with_algorithm(GetParam()));
  EXPECT_EQ(check_everything(*comm), "");
  EXPECT_EQ(check_codecs(*comm), "");
}

TEST_P(OverMpi, CollectivesAreExactInManyPiecesAndMessages) {
  HostOptions options = with_algorithm(GetParam());
  options.chunk_bytes = 512;
  options.max_message_bytes = 28;  // 7 f32 elements
  const auto comm = communicator(options);
  EXPECT_EQ(check_everything(*comm), "");
}

TEST_P(OverMpi, ALargeBufferIsExact) {
  const auto comm = communicator(with_algorithm(GetParam()));
  EXPECT_EQ(check_all_reduce(*comm, DType::kF32, ReduceOp::kSum, 1'000'001), "");
}

TEST_P(OverMpi, SeveralCollectivesMayBeInFlight) {
  const auto comm = communicator(with_algorithm(GetParam()));
  constexpr int64_t kCount = 50'000;
  std::vector<std::vector<float>> buckets(5,
                                          std::vector<float>(kCount, static_cast<float>(comm->rank() + 1)));
  std::vector<Work> works;
  for (std::vector<float>& bucket : buckets) {
    works.push_back(comm->all_reduce({bucket.data(), kCount, DType::kF32}, ReduceOp::kSum));
  }
  for (Work& work : works) work.wait();
  const auto sum = static_cast<float>(comm->size() * (comm->size() + 1) / 2);
  for (const std::vector<float>& bucket : buckets) EXPECT_EQ(bucket, std::vector<float>(kCount, sum));
}

TEST_P(OverMpi, AnAllReduceSendsNoMoreThanItMust) {
  const auto comm = communicator(with_algorithm(GetParam()));
  const int64_t count = 48'000L * comm->size();
  std::vector<float> data(count, 1);
  const uint64_t before = comm->bytes_sent();
  comm->all_reduce({data.data(), count, DType::kF32}, ReduceOp::kSum).wait();
  const auto whole = static_cast<uint64_t>(count) * sizeof(float);
  const auto ranks = static_cast<uint64_t>(comm->size());
  uint64_t expected = 2 * (ranks - 1) * whole / ranks;
  // Whole buffers, in log2 R rounds where that is possible, else from each to each.
  if (GetParam() == "direct" || GetParam() == "recursive_doubling") expected = (ranks - 1) * whole;
  if (GetParam() == "recursive_doubling" && ranks == 4) expected = 2 * whole;
  EXPECT_EQ(comm->bytes_sent() - before, expected);
}

INSTANTIATE_TEST_SUITE_P(, OverMpi, testing::ValuesIn(algorithm_list()),
                         [](const auto& test) { return test.param; });

TEST(MpiTransport, AProgressThreadMayDriveIt) {
  HostOptions options;
  options.progress = Progress::kThread;
  const auto comm = communicator(options);
  EXPECT_EQ(check_everything(*comm), "");
}

TEST(MpiTransport, TreeSumHasTheBitsOfTheTree) {
  const auto comm = communicator({});
  const std::vector<float> sums = sum_uneven(*comm, 16, 501);
  for (int64_t i = 0; i < 501; ++i) {
    const float expected = tree_value(0, 16, 16, [&](int leaf) { return uneven(leaf, i); });
    EXPECT_EQ(std::bit_cast<uint32_t>(sums[i]), std::bit_cast<uint32_t>(expected)) << "element " << i;
  }
}

TEST(MpiTransport, RanksOfAMachineSendNoElementOfWhatTheyShare) {
  const auto comm = communicator({});
  const int64_t count = 100'000;
  const std::shared_ptr<Storage> memory = comm->allocate(count * sizeof(float));
  comm->all_reduce({memory->data(), count, DType::kF32}, ReduceOp::kSum).wait();
  const auto peers = static_cast<uint64_t>(comm->size() - 1);
  EXPECT_EQ(comm->ranks_per_node(), comm->size());
  EXPECT_LE(comm->bytes_sent(), peers * 1000) << "places in memory, and what it took to agree";
}

TEST(MpiTransport, SplitMakesIndependentGroups) {
  const auto comm = communicator({});
  const auto part = comm->split(comm->rank() % 2, -comm->rank());
  EXPECT_EQ(part->size(), (comm->size() + 1 - comm->rank() % 2) / 2);
  EXPECT_EQ(part->rank(), part->size() - 1 - comm->rank() / 2);
  EXPECT_EQ(check_everything(*part), "");
  EXPECT_EQ(comm->split(comm->rank() == 0 ? 0 : -1, 0) != nullptr, comm->rank() == 0);
}

TEST(MpiTransport, AfterAnAbortNothingIsStarted) {
  const auto transport = mpi_transport();
  const int self = transport->rank();
  char memory = 0;
  std::vector<int> finished;
  transport->abort("enough");
  EXPECT_THROW(transport->receive(self, 1, &memory, 1, 0), CommError);
  EXPECT_THROW(transport->send(self, 1, &memory, 1, 1), CommError);
  EXPECT_THROW(transport->poll(finished), CommError);
}

TEST(MpiTransport, AMessageOfAnotherLengthIsNamed) {
  const auto transport = mpi_transport();
  if (transport->size() == 1) return;  // nobody to send
  const std::vector<char> data(16);
  std::vector<char> received(16);
  std::vector<int> finished;
  const int next = (transport->rank() + 1) % transport->size();
  const int previous = (transport->rank() + transport->size() - 1) % transport->size();
  transport->send(next, 1, data.data(), 8, 0);
  transport->receive(previous, 1, received.data(), 16, 1);
  std::string text;
  while (text.empty() && finished.size() < 2) {
    try {
      transport->poll(finished);
    } catch (const CommError& error) {
      text = error.what();
    }
  }
  EXPECT_NE(text.find("sent 8 bytes where 16 were expected"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::comm::test

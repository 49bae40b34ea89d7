// All algorithms x ranks x counts x dtypes x operations, exactly.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "runtime/error.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm::test {
namespace {

using lockstep::test::run_ranks;
using lockstep::test::RunOptions;

struct Case {
  std::string algorithm;
  int ranks;
  int ranks_per_node = 1;
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.algorithm << " on " << test.ranks << " ranks, " << test.ranks_per_node << " a node";
}

/// (ranks, ranks a node): one node, a power of two of them, other numbers, and both with nodes that hold one
/// subtree and with such that hold several.
constexpr std::pair<int, int> kSharing[] = {{2, 2}, {3, 3}, {4, 4}, {5, 5}, {8, 8},  {13, 13}, {4, 2}, {8, 2},
                                            {8, 4}, {6, 2}, {6, 3}, {9, 3}, {12, 3}, {12, 4},  {14, 7}};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& algorithm : algorithm_list()) {
    for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 13}) cases.push_back({algorithm, ranks});
  }
  for (const auto& [ranks, ranks_per_node] : kSharing)
    cases.push_back({"hierarchical", ranks, ranks_per_node});
  return cases;
}

class Collectives : public testing::TestWithParam<Case> {
 protected:
  RunOptions options() const {
    RunOptions options;
    options.host.algorithm = GetParam().algorithm;
    options.host.numerics = Numerics::kFast;
    options.ranks_per_node = GetParam().ranks_per_node;
    return options;
  }
};

TEST_P(Collectives, AreExact) {
  run_ranks(
      GetParam().ranks, [](Communicator& comm) { EXPECT_EQ(check_everything(comm), ""); }, options());
}

TEST_P(Collectives, AreExactInManyPieces) {
  RunOptions small = options();
  small.host.chunk_bytes = 64;
  run_ranks(
      GetParam().ranks, [](Communicator& comm) { EXPECT_EQ(check_everything(comm), ""); }, small);
}

TEST_P(Collectives, AreExactWithCodecs) {
  RunOptions small = options();
  small.host.chunk_bytes = 8192;  // two blocks
  small.host.max_message_bytes = 3000;
  for (const RunOptions& variant : {options(), small}) {
    run_ranks(
        GetParam().ranks, [](Communicator& comm) { EXPECT_EQ(check_codecs(comm), ""); }, variant);
  }
}

TEST_P(Collectives, AreExactInManyMessages) {
  RunOptions small = options();
  small.host.max_message_bytes = 28;  // 7 f32 elements
  run_ranks(
      GetParam().ranks,
      [](Communicator& comm) {
        for (const int64_t count : {0, 1, 6, 7, 8, 13, 14, 15}) {
          EXPECT_EQ(check_all_reduce(comm, DType::kF32, ReduceOp::kSum, count), "");
          EXPECT_EQ(check_all_gather(comm, DType::kF32, count), "");
          EXPECT_EQ(check_broadcast(comm, DType::kF32, 0, count), "");
        }
      },
      small);
}

TEST_P(Collectives, AllRanksGetTheSameBits) {
  const int ranks = GetParam().ranks;
  const int64_t count = 999;
  std::vector<std::vector<float>> results(ranks);
  run_ranks(
      ranks, [&](Communicator& comm) { results[comm.rank()] = all_reduce_uneven(comm, count); }, options());
  for (const std::vector<float>& result : results) {
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(result[i]), std::bit_cast<uint32_t>(results[0][i]))
          << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Collectives, testing::ValuesIn(all_cases()), [](const auto& test) {
  const std::string name = test.param.algorithm + "_" + std::to_string(test.param.ranks);
  return test.param.ranks_per_node > 1 ? name + "_by_" + std::to_string(test.param.ranks_per_node) : name;
});

TEST(CollectivesInMessages, OfSevenElementsAreExactForAMillion) {
  RunOptions options;
  options.host.algorithm = "halving_doubling";
  options.host.max_message_bytes = 28;
  options.host.chunk_bytes = 8192;  // keeps few of them in flight
  const auto check = [](Communicator& comm) {
    EXPECT_EQ(check_all_reduce(comm, DType::kF32, ReduceOp::kSum, 1'000'001), "");
  };
  for (const int ranks : {2, 3}) run_ranks(ranks, check, options);
}

/// all_reduce of uneven values has the bits of the tree's sum.
void expect_tree_order(Communicator& comm, int64_t count, const std::string& algorithm) {
  const int ranks = comm.size();
  const std::vector<float> sums = all_reduce_uneven(comm, count);
  for (int64_t i = 0; i < count; ++i) {
    const float expected =
        tree_value(0, next_power_of_two(ranks), ranks, [&](int leaf) { return uneven(leaf, i); });
    EXPECT_EQ(std::bit_cast<uint32_t>(sums[i]), std::bit_cast<uint32_t>(expected))
        << algorithm << ", " << ranks << " ranks, element " << i << " of " << count;
  }
}

class TreeOrder : public testing::TestWithParam<std::string> {};

TEST_P(TreeOrder, AllReduceFollowsTheTree) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 13}) {
    RunOptions options;
    options.host.algorithm = GetParam();
    options.host.chunk_bytes = 256;
    run_ranks(
        ranks, [](Communicator& comm) { expect_tree_order(comm, 700, GetParam()); }, options);
  }
}

/// Ranges of random algorithms in tree order; sizes around those that are summed below.
std::string random_selection(std::mt19937& random) {
  const std::vector<std::string> names = algorithm_list(true);
  std::string text;
  size_t begin = 0;
  for (size_t left = random() % 4; left > 0; --left) {
    const size_t end = begin + 1 + random() % 2000;
    text += to_text(names[random() % names.size()], ':', begin, '-', end, ';');
    begin = end;
  }
  return to_text(text, names[random() % names.size()], ':', begin, '-');
}

TEST(Selections, ChangeNoBit) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 8);
    const int64_t count = 1 + static_cast<int64_t>(random() % 1000);
    RunOptions options;
    options.host.algorithm = random_selection(random);
    options.host.chunk_bytes = 256;
    options.ranks_per_node = round % 2 == 0 ? ranks : 1;
    run_ranks(
        ranks, [&](Communicator& comm) { expect_tree_order(comm, count, options.host.algorithm); }, options);
  }
}

TEST_P(TreeOrder, TreeSumHasTheSameBitsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 13, 16}) {
    RunOptions options;
    options.host.algorithm = GetParam();
    options.host.chunk_bytes = 256;
    run_ranks(
        ranks,
        [&](Communicator& comm) {
          const std::vector<float> sums = sum_uneven(comm, 16, 700);
          for (int64_t i = 0; i < 700; ++i) {
            const float expected = tree_value(0, 16, 16, [&](int leaf) { return uneven(leaf, i); });
            EXPECT_EQ(std::bit_cast<uint32_t>(sums[i]), std::bit_cast<uint32_t>(expected))
                << ranks << " ranks, element " << i;
          }
        },
        options);
  }
}

TEST(TreeOrderOfNodes, IsTheSame) {
  for (const auto& [ranks, ranks_per_node] : kSharing) {
    RunOptions options;
    options.host.algorithm = "hierarchical";
    options.host.chunk_bytes = 1024;
    options.ranks_per_node = ranks_per_node;
    run_ranks(
        ranks,
        [&](Communicator& comm) {
          const std::vector<float> of_leaves = sum_uneven(comm, 16, 3000);
          const std::vector<float> of_ranks = all_reduce_uneven(comm, 3000);
          for (int64_t i = 0; i < 3000; ++i) {
            const auto leaf = [&](int index) { return uneven(index, i); };
            EXPECT_EQ(std::bit_cast<uint32_t>(of_leaves[i]),
                      std::bit_cast<uint32_t>(tree_value(0, 16, 16, leaf)))
                << ranks << " ranks, " << ranks_per_node << " a node, element " << i;
            EXPECT_EQ(std::bit_cast<uint32_t>(of_ranks[i]),
                      std::bit_cast<uint32_t>(tree_value(0, next_power_of_two(ranks), ranks, leaf)))
                << ranks << " ranks, " << ranks_per_node << " a node, element " << i;
          }
        },
        options);
  }
}

INSTANTIATE_TEST_SUITE_P(, TreeOrder, testing::ValuesIn(algorithm_list(true)),
                         [](const auto& test) { return test.param; });

TEST(TreeOrderInputs, TellOrdersApart) {
  // Otherwise the tests above could not fail.
  float in_sequence = 0;
  for (int leaf = 0; leaf < 16; ++leaf) in_sequence += uneven(leaf, 0);
  EXPECT_NE(in_sequence, tree_value(0, 16, 16, [](int leaf) { return uneven(leaf, 0); }));
}

}  // namespace
}  // namespace lockstep::comm::test

// Sums with a codec: the right ones, and the same bits on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "comm/codecs/rounding.h"
#include "comm/codecs/table.h"
#include "runtime/rng.h"
#include "tests/comm/codecs/codec_reference.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm::test {
namespace {

using lockstep::test::run_ranks;
using lockstep::test::RunOptions;

constexpr int64_t kCount = 3 * 1024 + 401;

/// The tree of uneven(), every node rounded by its definition; leaves from `present` on are absent.
std::vector<float> rounded_tree(Codec codec, int first, int last, int present) {
  std::vector<float> sum(kCount);
  if (last - first == 1) {
    for (int64_t i = 0; i < kCount; ++i) sum[i] = uneven(first, i);
  } else {
    const int middle = first + (last - first) / 2;
    sum = rounded_tree(codec, first, middle, present);
    if (middle >= present) return sum;
    const std::vector<float> right = rounded_tree(codec, middle, last, present);
    for (int64_t i = 0; i < kCount; ++i) sum[i] += right[i];
  }
  return reference_rounded(codec, sum);
}

class CodecSums : public testing::TestWithParam<std::tuple<Codec, std::string>> {
 protected:
  Codec codec() const { return std::get<0>(GetParam()); }
  RunOptions options(int ranks_per_node = 1) const {
    RunOptions options;
    options.host.algorithm = std::get<1>(GetParam());
    options.host.numerics = Numerics::kFast;
    options.host.chunk_bytes = 4096;  // a block a piece
    options.ranks_per_node = ranks_per_node;
    return options;
  }
};

TEST_P(CodecSums, TreeSumHasTheSameBitsOnAnyNumberOfRanks) {
  const std::vector<float> expected = rounded_tree(codec(), 0, 16, 16);
  for (const auto& [ranks, ranks_per_node] : {std::pair{1, 1},
                                              {2, 1},
                                              {2, 2},
                                              {3, 1},
                                              {4, 1},
                                              {5, 1},
                                              {6, 3},
                                              {7, 1},
                                              {8, 1},
                                              {8, 4},
                                              {13, 1},
                                              {16, 8}}) {
    run_ranks(
        ranks,
        [&](Communicator& comm) {
          EXPECT_EQ(first_difference(sum_uneven(comm, 16, kCount, codec()), expected), "")
              << comm.size() << " ranks";
        },
        options(ranks_per_node));
  }
}

TEST_P(CodecSums, AllReduceRoundsEveryNodeOfItsTree) {
  for (const int ranks : {2, 3, 4, 8, 13}) {
    const std::vector<float> expected = rounded_tree(codec(), 0, next_power_of_two(ranks), ranks);
    run_ranks(
        ranks,
        [&](Communicator& comm) {
          EXPECT_EQ(first_difference(all_reduce_uneven(comm, kCount, codec()), expected), "")
              << ranks << " ranks";
        },
        options());
  }
}

TEST_P(CodecSums, WhatAnEarlierCallLeftInScratchMemoryDoesNotMatter) {
  run_ranks(
      3,
      [&](Communicator& comm) {
        std::vector<float> large(5000, 1e30F);
        std::vector<float> small(1030, 0x1p-60F);
        comm.all_reduce({large.data(), 5000, DType::kF32}, ReduceOp::kSum, {.codec = codec()});
        comm.all_reduce({small.data(), 1030, DType::kF32}, ReduceOp::kSum, {.codec = codec()}).wait();
        EXPECT_EQ(small, std::vector<float>(1030, 0x1.8p-59F));
      },
      options());
}

TEST_P(CodecSums, InfinitiesAndNanArrive) {
  run_ranks(
      3,
      [&](Communicator& comm) {
        std::vector<float> values(1500, 1.0F);
        if (comm.rank() == 1) values[3] = INFINITY;
        if (comm.rank() == 2) values[4] = -INFINITY;
        if (comm.rank() == 1) values[5] = NAN;
        comm.all_reduce({values.data(), 1500, DType::kF32}, ReduceOp::kSum, {.codec = codec()}).wait();
        EXPECT_EQ(values[2], 3.0F);
        EXPECT_EQ(values[3], INFINITY);
        EXPECT_EQ(values[4], -INFINITY);
        EXPECT_TRUE(std::isnan(values[5]));
        EXPECT_EQ(values[1499], 3.0F);
      },
      options());
}

INSTANTIATE_TEST_SUITE_P(, CodecSums,
                         testing::Combine(testing::Values(Codec::kFp16, Codec::kBf16),
                                          testing::ValuesIn(algorithm_list(true))),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + ("_" + std::get<1>(test.param));
                         });

TEST(CodecSumInputs, TellCodecsApart) {
  // Otherwise the tests above could not fail.
  const std::vector<float> fp16 = rounded_tree(Codec::kFp16, 0, 16, 16);
  EXPECT_NE(fp16, rounded_tree(Codec::kBf16, 0, 16, 16));
  const auto exact = [&](int64_t i) {
    return tree_value(0, 16, 16, [&](int leaf) { return uneven(leaf, i); });
  };
  EXPECT_NE(fp16[0], exact(0));
}

/// The sum over ranks of the values that each rank holds, with a codec.
std::vector<float> sum_over(int ranks, Codec codec,
                            const std::function<std::vector<float>(int rank)>& values) {
  std::vector<float> result;
  run_ranks(ranks, [&](Communicator& comm) {
    std::vector<float> mine = values(comm.rank());
    const Buffer buffer{mine.data(), static_cast<int64_t>(mine.size()), DType::kF32};
    round(codec, buffer);
    comm.all_reduce(buffer, ReduceOp::kSum, {.codec = codec}).wait();
    if (comm.rank() == 0) result = mine;
  });
  return result;
}

TEST(Fp16Sums, NeitherOverflowNorVanish) {
  EXPECT_EQ(sum_over(4, Codec::kFp16, [](int) { return std::vector<float>{20000.0F}; })[0] / 4, 20000.0F);
  EXPECT_EQ(sum_over(8, Codec::kFp16, [](int) { return std::vector<float>{0x1p-22F}; })[0] / 8, 0x1p-22F);
  for (const int ranks : {2, 3, 8, 64}) {
    const std::vector<float> together = sum_over(ranks, Codec::kFp16, [](int) {
      return std::vector<float>{20000.0F, 0x1p-22F};
    });
    const auto count = static_cast<float>(ranks);
    EXPECT_EQ(together[0] / count, 20000.0F) << ranks << " ranks";
    EXPECT_EQ(together[1] / count, 0x1p-22F) << ranks << " ranks";
  }
}

TEST(CodecErrors, TheErrorGrowsWithTheDepthOfTheTreeAlone) {
  // Positive values: no partial sum is larger than the whole, so each rounding costs at most the codec's
  // share.
  constexpr int64_t kValues = 2000;
  const auto value = [](int leaf, int64_t i) {
    return 0.5F + RandomStream(7, Purpose::kTest, 0, static_cast<uint64_t>(leaf)).uniform(i);
  };
  for (const auto& [codec, unit] : {std::pair{Codec::kFp16, 0x1p-11}, std::pair{Codec::kBf16, 0x1p-8}}) {
    for (const int ranks : {2, 8, 64}) {
      const std::vector<float> sums = sum_over(ranks, codec, [&](int rank) {
        std::vector<float> mine;
        for (int64_t i = 0; i < kValues; ++i) mine.push_back(value(rank, i));
        return mine;
      });
      const double roundings = 1 + std::log2(ranks);
      for (int64_t i = 0; i < kValues; ++i) {
        const double exact = tree_value(0, ranks, ranks, [&](int leaf) { return value(leaf, i); });
        ASSERT_LE(std::abs(sums[i] - exact), (std::pow(1 + unit, roundings) - 1 + 1e-6) * exact)
            << name_of(codec) << ", " << ranks << " ranks, element " << i;
      }
    }
  }
}

TEST(CodecErrors, SmallContributionsAreAddedInSinglePrecision) {
  // A micro-batch's gradients are added in f32 before anything is rounded: 256 of 2^-9 beside 1 give 1.5.
  float sum = 1.0F;
  for (int i = 0; i < 256; ++i) sum += 0x1p-9F;
  for (const CodecRow& codec : codecs()) {
    std::vector<float> rounded{sum};
    codec.round(rounded.data(), 1);
    EXPECT_EQ(rounded[0], 1.5F);
  }
}

TEST(CodecTraffic, IsHalfTheBytes) {
  const auto bytes = [](Codec codec) {
    uint64_t sent = 0;
    run_ranks(4, [&](Communicator& comm) {
      std::vector<float> values(64 * 1024, 1.0F);
      comm.all_reduce({values.data(), 64 * 1024, DType::kF32}, ReduceOp::kSum, {.codec = codec}).wait();
      if (comm.rank() == 0) sent = comm.bytes_sent();
    });
    return sent;
  };
  EXPECT_EQ(bytes(Codec::kNone), 2 * 48 * 1024 * 4U);  // twice three quarters of the buffer
  EXPECT_EQ(bytes(Codec::kFp16), 2 * 48 * (1024 * 2 + 2U));
  EXPECT_EQ(bytes(Codec::kBf16), 2 * 48 * (1024 * 2U));
}

}  // namespace
}  // namespace lockstep::comm::test

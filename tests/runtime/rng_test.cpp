#include "runtime/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace lockstep {
namespace {

using Block = std::array<uint32_t, 4>;

// The known-answer vectors of the Random123 distribution (kat_vectors, "philox4x32 10").
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The derivation is a file format: checkpoints of older versions resume with the same draws.
TEST(RandomStream, KeyAndCounterAreLaidOutAsDocumented) {
  const uint64_t seed = 0x1122334455667788;
  const uint64_t major = 0x99aabbccddeeff00;
  const uint64_t minor = 0x0123456789abcdef;
  const uint64_t index = 0xfedcba9876543210;
  const Block key =
      philox({0xddeeff00, 0x99aabbcc, static_cast<uint32_t>(Purpose::kDropout), 0}, {0x55667788, 0x11223344});
  const RandomStream stream(seed, Purpose::kDropout, major, minor);
  EXPECT_EQ(stream.block(index), philox({0x76543210, 0xfedcba98, 0x89abcdef, 0x01234567}, {key[0], key[1]}));
}

TEST(RandomStream, PositionsAreTheWordsOfTheBlocks) {
  const RandomStream stream(1, Purpose::kTest, 2, 3);
  for (uint64_t position = 0; position < 16; ++position) {
    EXPECT_EQ(stream.bits(position), stream.block(position / 4)[position % 4]);
  }
}

TEST(RandomStream, FillGivesTheSameWordsAsSingleDraws) {
  const RandomStream stream(1, Purpose::kTest, 2, uint64_t{3} << 33 | 5);
  for (const uint64_t first_block : {uint64_t{0}, uint64_t{7}, (uint64_t{1} << 32) - 3}) {
    for (const size_t count : {0, 1, 4, 127, 128, 130, 261}) {
      std::vector<uint32_t> words(count + 1, 77);
      stream.fill(first_block, std::span(words).first(count));
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(words[i], stream.bits(4 * first_block + i)) << i;
      EXPECT_EQ(words[count], 77U) << "one word too many";
    }
  }
}

TEST(RandomStream, EveryArgumentChangesTheDraws) {
  const std::vector<RandomStream> streams{
      {1, Purpose::kTest, 2, 3},          {2, Purpose::kTest, 2, 3},
      {1, Purpose::kShuffle, 2, 3},       {1, Purpose::kTest, 3, 3},
      {1, Purpose::kTest, 2, 4},          {1, Purpose::kTest, 3, 2},
      {1ULL << 32, Purpose::kTest, 2, 3}, {1, Purpose::kTest, 2ULL << 32, 3},
      {1, Purpose::kTest, 2, 3ULL << 32},
  };
  std::set<Block> blocks;
  for (const RandomStream& stream : streams) blocks.insert(stream.block(0));
  EXPECT_EQ(blocks.size(), streams.size());
}

TEST(RandomStream, UnitIntervalExcludesOne) {
  EXPECT_EQ(RandomStream::to_unit(0), 0.0F);
  EXPECT_EQ(RandomStream::to_unit(0x80000000), 0.5F);
  EXPECT_EQ(RandomStream::to_unit(0xffffffff), 1.0F - 0x1p-24F);
}

TEST(RandomStream, UniformHasTheRightMoments) {
  const RandomStream stream(7, Purpose::kTest, 0, 0);
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.uniform(static_cast<uint64_t>(i));
    sum += value;
    squares += value * value;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(RandomStream, BelowIsEvenOverItsRange) {
  const RandomStream stream(7, Purpose::kTest, 0, 0);
  constexpr uint32_t kBound = 6;
  constexpr int kDraws = 60000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t value = stream.below(static_cast<uint64_t>(i), kBound);
    ASSERT_LT(value, kBound);
    ++counts[value];
  }
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kDraws / 6.0, 2) / (kDraws / 6.0);
  EXPECT_LT(chi_squared, 20.5);  // five degrees of freedom: exceeded once in 1,000 seeds
}

TEST(RandomStream, BelowReachesTheEndsOfLargeRanges) {
  const RandomStream stream(7, Purpose::kTest, 0, 0);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(stream.below(i, 1), 0U);
    EXPECT_LE(stream.below(i, 0xffffffff), stream.bits(i));
  }
}

TEST(RandomStream, NormalHasTheRightMoments) {
  const RandomStream stream(11, Purpose::kTest, 0, 0);
  constexpr int kDraws = 100000;
  std::array<double, 4> moments{};
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.normal(static_cast<uint64_t>(i));
    double power = 1;
    for (double& moment : moments) moment += (power *= value) / kDraws;
  }
  const double error = 5 / std::sqrt(kDraws);  // five standard errors of a variable with unit variance
  EXPECT_NEAR(moments[0], 0, error);
  EXPECT_NEAR(moments[1], 1, error * std::sqrt(2));
  EXPECT_NEAR(moments[2], 0, error * std::sqrt(15));
  EXPECT_NEAR(moments[3], 3, error * std::sqrt(96));
}

TEST(RandomStream, NeighbouringNormalsAreUncorrelated) {
  const RandomStream stream(11, Purpose::kTest, 0, 0);
  constexpr int kDraws = 100000;
  for (uint64_t lag = 1; lag <= 4; ++lag) {
    double correlation = 0;
    for (uint64_t i = 0; i < kDraws; ++i) correlation += stream.normal(i) * stream.normal(i + lag) / kDraws;
    EXPECT_NEAR(correlation, 0, 5 / std::sqrt(kDraws)) << "lag " << lag;
  }
}

}  // namespace
}  // namespace lockstep

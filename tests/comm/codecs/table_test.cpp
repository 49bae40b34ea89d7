#include "comm/codecs/table.h"

#include <gtest/gtest.h>

#include "runtime/threads.h"
#include "tests/comm/codecs/codec_reference.h"

namespace lockstep::comm {
namespace {

using test::codec_patterns;
using test::first_difference;
using test::Pattern;
using test::reference_rounded;

constexpr std::byte kGuard{0x5a};

/// Checks that exactly the wire's bytes are written.
std::vector<std::byte> encoded(const CodecRow& codec, const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  const size_t nbytes = static_cast<size_t>(codec.blocks_of(count)) * codec.block_bytes;
  std::vector<std::byte> wire(nbytes + 2, kGuard);
  codec.encode(values.data(), count, wire.data());
  EXPECT_TRUE(wire[nbytes] == kGuard && wire[nbytes + 1] == kGuard) << "wrote beyond the wire";
  wire.resize(nbytes);
  return wire;
}

std::vector<float> decoded(const CodecRow& codec, const std::vector<std::byte>& wire, size_t count) {
  std::vector<float> values(count + 1, 77);
  codec.decode(wire.data(), static_cast<int64_t>(count), values.data());
  EXPECT_EQ(values.back(), 77) << "wrote beyond the values";
  values.pop_back();
  return values;
}

std::vector<float> rounded(const CodecRow& codec, std::vector<float> values) {
  values.push_back(77);
  codec.round(values.data(), static_cast<int64_t>(values.size()) - 1);
  EXPECT_EQ(values.back(), 77) << "wrote beyond the values";
  values.pop_back();
  return values;
}

class EveryCodec : public testing::TestWithParam<CodecRow> {};

TEST_P(EveryCodec, RoundsAsItsDefinitionSays) {
  for (const Pattern& pattern : codec_patterns()) {
    EXPECT_EQ(first_difference(rounded(GetParam(), pattern.values),
                               reference_rounded(GetParam().codec, pattern.values)),
              "")
        << pattern.name;
  }
}

TEST_P(EveryCodec, ATripOverTheWireRounds) {
  for (const Pattern& pattern : codec_patterns()) {
    const std::vector<std::byte> wire = encoded(GetParam(), pattern.values);
    EXPECT_EQ(first_difference(decoded(GetParam(), wire, pattern.values.size()),
                               rounded(GetParam(), pattern.values)),
              "")
        << pattern.name;
  }
}

TEST_P(EveryCodec, WhatWasRoundedIsEncodedToTheSameBytesAgain) {
  for (const Pattern& pattern : codec_patterns()) {
    const std::vector<std::byte> wire = encoded(GetParam(), pattern.values);
    const std::vector<float> once = decoded(GetParam(), wire, pattern.values.size());
    EXPECT_EQ(encoded(GetParam(), once), wire) << pattern.name;
    EXPECT_EQ(first_difference(rounded(GetParam(), once), once), "") << pattern.name;
  }
}

TEST_P(EveryCodec, TheEndOfAPartialBlockTravelsAsZeros) {
  const std::vector<std::byte> wire = encoded(GetParam(), {1.5F, -2.5F});
  const std::vector<float> block = decoded(GetParam(), wire, static_cast<size_t>(GetParam().block_count));
  std::vector<float> expected(block.size(), 0.0F);
  expected[0] = 1.5F;
  expected[1] = -2.5F;
  EXPECT_EQ(first_difference(block, expected), "");
}

TEST_P(EveryCodec, FlushingSubnormalsChangesNoBit) {
  for (const Pattern& pattern : codec_patterns()) {
    const std::vector<std::byte> wire = encoded(GetParam(), pattern.values);
    std::vector<std::byte> flushed_wire;
    std::vector<float> flushed_round;
    std::vector<float> flushed_values;
    start_thread("flushing",
                 [&] {  // as all threads that compute do
                   flushed_wire = encoded(GetParam(), pattern.values);
                   flushed_round = rounded(GetParam(), pattern.values);
                   flushed_values = decoded(GetParam(), wire, pattern.values.size());
                 })
        .join();
    EXPECT_EQ(flushed_wire, wire) << pattern.name;
    EXPECT_EQ(first_difference(flushed_round, rounded(GetParam(), pattern.values)), "") << pattern.name;
    EXPECT_EQ(first_difference(flushed_values, decoded(GetParam(), wire, pattern.values.size())), "")
        << pattern.name;
  }
}

TEST_P(EveryCodec, HalvesTheBytes) {
  const double ratio = static_cast<double>(GetParam().block_count) * sizeof(float) /
                       static_cast<double>(GetParam().block_bytes);
  EXPECT_GT(ratio, 1.998);
}

INSTANTIATE_TEST_SUITE_P(, EveryCodec, testing::ValuesIn(codecs().begin(), codecs().end()),
                         [](const auto& test) { return test.param.name; });

TEST(CodecTable, FindsRowsAndNames) {
  EXPECT_EQ(find_codec(Codec::kNone), nullptr);
  EXPECT_EQ(find_codec(Codec::kBf16)->codec, Codec::kBf16);
  EXPECT_STREQ(name_of(Codec::kNone), "none");
  EXPECT_STREQ(name_of(Codec::kFp16), "fp16");
}

TEST(CodecTable, CountsBlocks) {
  const CodecRow& codec = *find_codec(Codec::kFp16);
  EXPECT_EQ(codec.blocks_of(0), 0);
  EXPECT_EQ(codec.blocks_of(1), 1);
  EXPECT_EQ(codec.blocks_of(1024), 1);
  EXPECT_EQ(codec.blocks_of(1025), 2);
}

}  // namespace
}  // namespace lockstep::comm

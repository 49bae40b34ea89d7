#include "data/formats/tokens.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"

namespace lockstep::data {
namespace {

Bytes little_endian(uint32_t value, size_t count) {
  Bytes bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// A token file: what its header says, then the tokens.
Bytes token_file(const std::vector<uint32_t>& tokens, uint32_t magic = 20240520, uint32_t version = 1) {
  Bytes bytes = little_endian(magic, 4) + little_endian(version, 4) +
                little_endian(static_cast<uint32_t>(tokens.size()), 4);
  bytes.resize(1024, '\0');
  for (const uint32_t token : tokens) bytes += little_endian(token, magic == 20240520 ? 2 : 4);
  return bytes;
}

std::vector<uint32_t> count_from(uint32_t first, size_t count) {
  std::vector<uint32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

using Tokens = std::vector<int64_t>;

struct Sample {
  Tokens input;
  Tokens target;
};

Sample sample_of(const DataSource& source, int64_t index) {
  const auto length = static_cast<size_t>(source.spec().shape[0]);
  Sample sample{Tokens(length), Tokens(length)};
  SampleRequest request;
  request.index = index;
  request.input = reinterpret_cast<std::byte*>(sample.input.data());
  request.target = reinterpret_cast<std::byte*>(sample.target.data());
  source.read(request);
  return sample;
}

TokensSource open(const TemporaryDirectory& directory, int64_t length, int64_t classes = 0) {
  return TokensSource({.directory = directory.path(), .sequence_length = length, .classes = classes});
}

TEST(Tokens, TargetsAreOneFurtherAndSamplesStayInTheirFile) {
  const TemporaryDirectory directory;
  write_file(directory / "text_train_000001.bin", token_file(count_from(100, 8)));  // 2 samples, 1 token over
  write_file(directory / "text_train_000000.bin", token_file(count_from(50000, 7)));  // 2 samples, exactly
  write_file(directory / "text_val_000000.bin", token_file(count_from(7, 4)));
  write_file(directory / "train.txt", "no tokens");
  const TokensSource source = open(directory, 3);
  EXPECT_EQ(source.spec().shape, (Shape{3}));
  EXPECT_EQ(source.spec().target_shape, (Shape{3}));
  EXPECT_EQ(source.spec().dtype, DType::kI64);
  EXPECT_EQ(source.spec().classes, 50257);
  ASSERT_EQ(source.size(), 4);
  EXPECT_EQ(sample_of(source, 0).input, (Tokens{50000, 50001, 50002}));
  EXPECT_EQ(sample_of(source, 0).target, (Tokens{50001, 50002, 50003}));
  EXPECT_EQ(sample_of(source, 1).target, (Tokens{50004, 50005, 50006}));
  EXPECT_EQ(sample_of(source, 2).input, (Tokens{100, 101, 102}));
  EXPECT_EQ(sample_of(source, 3).input, (Tokens{103, 104, 105}));
  EXPECT_EQ(sample_of(source, 3).target, (Tokens{104, 105, 106}));
  const TokensSource val(
      {.directory = directory.path(), .split = Split::kTest, .sequence_length = 3, .classes = 50304});
  EXPECT_EQ(val.size(), 1);
  EXPECT_EQ(val.spec().classes, 50304);
  EXPECT_EQ(sample_of(val, 0).target, (Tokens{8, 9, 10}));
}

TEST(Tokens, ReadsWideTokens) {
  const TemporaryDirectory directory;
  write_file(directory / "train.bin", token_file({70000, 128255, 3}, 20240801, 7));
  const TokensSource source = open(directory, 2);
  EXPECT_EQ(source.spec().classes, 128256);
  EXPECT_EQ(sample_of(source, 0).input, (Tokens{70000, 128255}));
  EXPECT_EQ(sample_of(source, 0).target, (Tokens{128255, 3}));
}

TEST(Tokens, AFileShorterThanASequenceIsNamed) {
  const TemporaryDirectory directory;
  write_file(directory / "train_0.bin", token_file(count_from(0, 100)));
  write_file(directory / "train_1.bin", token_file(count_from(0, 8)));
  expect_contains(error_of<DataError>([&] { open(directory, 8); }),
                  "train_1.bin: expected at least 9 tokens for one sequence of 8, found 8");
  EXPECT_EQ(open(directory, 7).size(), 14 + 1);
}

TEST(Tokens, ATokenOutsideTheVocabularyIsNamed) {
  const TemporaryDirectory directory;
  write_file(directory / "train.bin", token_file({1, 2, 3, 4, 5, 6, 50257, 8, 9}));
  const TokensSource source = open(directory, 4);
  EXPECT_EQ(sample_of(source, 0).target, (Tokens{2, 3, 4, 5}));
  expect_contains(error_of<DataError>([&] { sample_of(source, 1); }),
                  "train.bin: token 6: expected 0 to 50256, got 50257");
  EXPECT_EQ(sample_of(open(directory, 4, 50304), 1).input[2], 50257);
  const TokensSource small = open(directory, 4, 5);
  expect_contains(error_of<DataError>([&] { sample_of(small, 0); }), "token 4: expected 0 to 4, got 5");
}

TEST(Tokens, AWrongFileIsNamed) {
  struct Row {
    Bytes file;
    const char* message;
  };
  const Bytes good = token_file(count_from(0, 20));
  const std::vector<Row> rows{{"", "expected a header of 1024 bytes, found 0"},
                              {good.substr(0, 1000), "expected a header of 1024 bytes, found 1000"},
                              {good.substr(0, 1063), "expected 1064 bytes (header: 20 tokens), found 1063"},
                              {good + "x", "expected 1064 bytes (header: 20 tokens), found 1065"},
                              {token_file(count_from(0, 20), 20240520, 2),
                               "expected 20240520 and 1 or 20240801 and 7, got 20240520 and 2"},
                              {Bytes(2000, '\0'), "got 0 and 0"}};
  for (const auto& [file, message] : rows) {
    const TemporaryDirectory directory;
    write_file(directory / "train.bin", file);
    const std::string text = error_of<DataError>([&] { open(directory, 4); });
    expect_contains(text, directory / "train.bin");
    expect_contains(text, message);
  }
}

TEST(Tokens, SaysWhatIsMissingOrImpossible) {
  const TemporaryDirectory directory;
  expect_contains(error_of<DataError>([&] { open(directory, 4); }), "looked for *train*.bin");
  expect_contains(error_of<DataError>([&] { TokensSource({.directory = directory / "none"}); }),
                  "/none: cannot be listed");
  write_file(directory / "train_0.bin", token_file(count_from(0, 20)));
  expect_contains(error_of<InvalidArgument>([&] { open(directory, 0); }), "expected 1 or more, got 0");
  const TokensSource source = open(directory, 4);
  EXPECT_THROW(sample_of(source, -1), InvalidArgument);
  EXPECT_THROW(sample_of(source, 4), InvalidArgument);
  write_file(directory / "train_1.bin", token_file(count_from(0, 20), 20240801, 7));
  expect_contains(error_of<DataError>([&] { open(directory, 4); }),
                  "train_1.bin: has tokens of 4 bytes, but ");
}

}  // namespace
}  // namespace lockstep::data

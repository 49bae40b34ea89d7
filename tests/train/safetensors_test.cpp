#include "train/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string hex_of(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[value / 16];
    text += "0123456789abcdef"[value % 16];
  }
  return text;
}

TEST(Safetensors, WritesTheReferenceBytes) {
  const TemporaryFolder folder;
  save_safetensors(folder.path("f"), {{"w", Tensor::from<float>({1, 2}, {2})}}, {{"format", "pt"}});
  EXPECT_EQ(hex_of(content_of(folder.path("f"))),
            "58000000000000007b225f5f6d657461646174615f5f223a7b22666f726d6174223a227074227d2c2277223a7b226474"
            "797065223a"
            "22463332222c227368617065223a5b325d2c22646174615f6f666673657473223a5b302c385d7d7d2020200000803f00"
            "000040");
}

TEST(Safetensors, KeepsEveryKindOfTensor) {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> tensors{
      {"u8", Tensor::from<uint8_t>({0, 255, 7}, {3})},
      {"scalar", Tensor::from<int64_t>({-5}, {})},
      {"empty", Tensor::empty({0, 3})},
      {"", Tensor::from<int32_t>({1, -1}, {1, 2})},
      {"f64", Tensor::from<double>({0.1}, {1})},
      {"f16", Tensor::from<Half>({Half(1.5F)}, {1})},
      {"bf16", Tensor::from<BFloat16>({BFloat16(-2.0F), BFloat16(1.0F)}, {2, 1})},
      {"\u00fcml\u00e4ut \"quoted\"", Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}).permute({1, 0})},
  };
  save_safetensors(folder.path("f"), tensors);

  const std::vector<NamedTensor> loaded = load_safetensors(folder.path("f"));
  std::vector<std::string> order;
  for (const NamedTensor& tensor : loaded) order.push_back(tensor.name);
  EXPECT_THAT(order, ::testing::ElementsAre("scalar", "f64", "empty", "\u00fcml\u00e4ut \"quoted\"", "",
                                            "bf16", "f16", "u8"));
  for (const NamedTensor& tensor : tensors) {
    const auto found =
        std::find_if(loaded.begin(), loaded.end(), [&](const auto& one) { return one.name == tensor.name; });
    ASSERT_NE(found, loaded.end()) << tensor.name;
    EXPECT_EQ(found->value.shape(), tensor.value.shape());
    ASSERT_EQ(found->value.dtype(), tensor.value.dtype());
    const Tensor expected = tensor.value.contiguous();
    EXPECT_EQ(std::memcmp(found->value.raw(), expected.raw(), expected.nbytes()), 0) << tensor.name;
  }
}

TEST(Safetensors, TheDataBeginsAligned) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    save_safetensors(folder.path("f"), {{name, Tensor::scalar(1)}});
    EXPECT_EQ(SafetensorsFile(folder.path("f")).entries().front().offset % 8, 0U) << name;
  }
}

TEST(Safetensors, MetadataAloneAndNothingAtAllAreValid) {
  const TemporaryFolder folder;
  save_safetensors(folder.path("metadata"), {}, {{"format", "pt"}, {"note", "x"}});
  const SafetensorsFile file(folder.path("metadata"));
  EXPECT_TRUE(file.entries().empty());
  EXPECT_EQ(file.metadata(), (SafetensorsMetadata{{"format", "pt"}, {"note", "x"}}));
  save_safetensors(folder.path("nothing"), {});
  EXPECT_TRUE(load_safetensors(folder.path("nothing")).empty());
}

TEST(Safetensors, RefusesToWriteNamesThatCannotBeRead) {
  const TemporaryFolder folder;
  const Tensor tensor = Tensor::scalar(1);
  EXPECT_THROW(save_safetensors(folder.path("f"), {{"w", tensor}, {"w", tensor}}), InvalidArgument);
  EXPECT_THROW(save_safetensors(folder.path("f"), {{"__metadata__", tensor}}), InvalidArgument);
  EXPECT_THROW(save_safetensors(folder.path("f"), {{"\xff", tensor}}), InvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder.path("f")));
}

/// A file that breaks one rule, and what the error must say.
struct BadFile {
  const char* name;
  std::string content;
  std::string message;
};

std::string with_header(const std::string& header, size_t data_nbytes, uint64_t length) {
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
         std::string(data_nbytes, '\0');
}

std::string with_header(const std::string& header, size_t data_nbytes) {
  return with_header(header, data_nbytes, header.size());
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"("w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::ostream& operator<<(std::ostream& out, const BadFile& file) {
  return out << file.name;
}

class SafetensorsFault : public ::testing::TestWithParam<BadFile> {};

TEST_P(SafetensorsFault, IsRefusedByName) {
  const TemporaryFolder folder;
  const std::string path = folder.path(GetParam().name);
  std::ofstream(path, std::ios::binary) << GetParam().content;
  try {
    const SafetensorsFile file(path);
    ADD_FAILURE() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr('"' + path + '"'));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

const std::string kW = one("F32", "[2]", "[0,8]");

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsFault,
    ::testing::Values(
        BadFile{"empty", "", "0 bytes are too few"}, BadFile{"no_length", "1234567", "7 bytes are too few"},
        BadFile{"header_2_63", with_header("{}", 0, uint64_t{1} << 63),
                "the header has 9223372036854775808 bytes"},
        BadFile{"header_above_limit", with_header("{}", 0, 100'000'001), "at most 100000000"},
        BadFile{"header_cut", with_header("{}", 0, 3), "truncated: the header has 3 bytes"},
        BadFile{"space_first", with_header(" {}", 0), "does not begin with '{'"},
        BadFile{"header_empty", with_header("", 0), "does not begin with '{'"},
        BadFile{"not_json", with_header("{\"w\":", 0), "not JSON"},
        BadFile{"after_json", with_header("{}x", 0), "not JSON"},
        BadFile{"not_utf8", with_header("{\"\xff\":1}", 0), "UTF-8"},
        BadFile{"deep", with_header("{\"w\":" + std::string(100000, '['), 0), "nests deeper"},
        BadFile{"data_cut", with_header("{" + kW + "}", 7), "beyond the 7 bytes of data"},
        BadFile{"trailing", with_header("{" + kW + "}", 9), "1 bytes after the last tensor"},
        BadFile{"metadata_trailing", with_header(R"({"__metadata__":{}})", 4),
                "4 bytes after the last tensor"},
        BadFile{"name_twice", with_header("{" + kW + "," + kW + "}", 8), "the name \"w\" occurs twice"},
        BadFile{"key_twice",
                with_header(R"({"w":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1),
                "the name \"dtype\" occurs twice"},
        BadFile{"hole",
                with_header(R"({"v":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)" +
                                one("U8", "[2]", "[2,4]") + "}",
                            4),
                "a hole of 1 bytes before tensor \"w\""},
        BadFile{"hole_first", with_header("{" + one("U8", "[2]", "[1,3]") + "}", 3), "a hole of 1 bytes"},
        BadFile{"overlap",
                with_header(R"({"v":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)" +
                                one("U8", "[2]", "[2,4]") + "}",
                            4),
                "tensor \"w\" overlaps"},
        BadFile{"reversed", with_header("{" + one("F32", "[2]", "[8,0]") + "}", 8), "[8,0] are reversed"},
        BadFile{"negative_offset", with_header("{" + one("F32", "[2]", "[-8,0]") + "}", 8),
                "not two integers from 0 up"},
        BadFile{"offset_2_64", with_header("{" + one("F32", "[2]", "[0,18446744073709551616]") + "}", 8),
                "not two integers from 0 up"},
        BadFile{"three_offsets", with_header("{" + one("F32", "[2]", "[0,4,8]") + "}", 8),
                "not two integers from 0 up"},
        BadFile{"wrong_size", with_header("{" + one("F32", "[3]", "[0,8]") + "}", 8),
                "f32 [3] does not take the 8 bytes"},
        BadFile{"wrong_rest", with_header("{" + one("F32", "[2]", "[0,9]") + "}", 9),
                "does not take the 9 bytes"},
        BadFile{"overflow", with_header("{" + one("U8", "[4294967296,4294967296]", "[0,0]") + "}", 0),
                "too many elements"},
        BadFile{"negative_extent", with_header("{" + one("F32", "[-2]", "[0,8]") + "}", 8),
                "not an integer from 0 up"},
        BadFile{"shape_text", with_header("{" + one("F32", "\"2\"", "[0,8]") + "}", 8), "is not a list"},
        BadFile{"nine_dimensions", with_header("{" + one("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]") + "}", 8),
                "at most 8"},
        BadFile{"unknown_dtype", with_header("{" + one("F8_E4M3", "[8]", "[0,8]") + "}", 8),
                "\"F8_E4M3\", which is not"},
        BadFile{"no_shape", with_header(R"({"w":{"dtype":"U8","data_offsets":[0,0]}})", 0),
                "lacks dtype, shape or"},
        BadFile{"not_an_object", with_header(R"({"w":1})", 0), "lacks dtype, shape or"},
        BadFile{"metadata_number", with_header(R"({"__metadata__":{"a":1}})", 0), "\"a\" is not a text"},
        BadFile{"metadata_list", with_header(R"({"__metadata__":[]})", 0), "__metadata__ is not an object"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace lockstep::train

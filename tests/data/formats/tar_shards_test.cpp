#include "data/formats/tar_shards.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "data/loader.h"
#include "tests/data/error_of.h"
#include "tests/data/pictures.h"
#include "tests/data/read_label.h"
#include "tests/data/tar_files.h"

namespace lockstep::data {
namespace {

Bytes grey(int value) {
  return encode_png(solid(4, 4, {static_cast<uint8_t>(value)}));
}

TarShardsSource open(const TemporaryDirectory& directory, Split split = Split::kTrain, int64_t classes = 10) {
  return TarShardsSource(
      {.directory = directory.path(), .split = split, .classes = classes, .picture = {1, 4}});
}

void expect_sample(const DataSource& source, int64_t index, int value, int64_t label) {
  std::vector<uint8_t> image(16);
  EXPECT_EQ(read_label(source, index, image.data()), label) << index;
  EXPECT_EQ(image, std::vector<uint8_t>(16, static_cast<uint8_t>(value))) << index;
}

/// `count` samples from number `first` on: sample n is of grey n and label n % 10.
Bytes shard(int first, int count) {
  std::vector<TarEntry> entries;
  for (int n = first; n < first + count; ++n) {
    const std::string key = "folder.d/" + std::to_string(n);
    entries.push_back({key + ".png", grey(n)});
    entries.push_back({key + ".cls", std::to_string(n % 10)});
  }
  return tar(entries);
}

TEST(TarShards, SamplesAreInTheOrderOfTheShards) {
  const TemporaryDirectory directory;
  write_file(directory / "train-000001.tar", shard(3, 4));
  write_file(directory / "train-000000.tar", shard(0, 3));
  write_file(directory / "val-000000.tar", shard(50, 2));
  const TarShardsSource train = open(directory);
  ASSERT_EQ(train.size(), 7);
  EXPECT_EQ(train.spec().shape, (Shape{1, 4, 4}));
  EXPECT_EQ(train.spec().classes, 10);
  EXPECT_TRUE(train.spec().framed);
  for (const int index : {6, 0, 3, 2}) expect_sample(train, index, index, index);
  const TarShardsSource val = open(directory, Split::kTest);
  ASSERT_EQ(val.size(), 2);
  expect_sample(val, 1, 51, 1);
}

TEST(TarShards, FoldersOfTheSplitsComeFirst) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "train");
  std::filesystem::create_directories(directory / "test");
  write_file(directory / "train-0.tar", shard(9, 9));
  write_file(directory / "train/x.tar", shard(0, 2));
  write_file(directory / "test/0.tar", shard(5, 1));
  EXPECT_EQ(open(directory).size(), 2);
  expect_sample(open(directory, Split::kTest), 0, 5, 5);
}

TEST(TarShards, MembersAreGroupedAsWebDatasetDoes) {
  const TemporaryDirectory directory;
  write_file(directory / "train.tar", tar({{"__index__", "x"},
                                           {"folder", "", TarEntry::kFolder},
                                           {"nodot", "x"},
                                           {"folder/.hidden", "x"},
                                           {"a.b/1.cls", " 3\n"},
                                           {"a.b/1.json", "{}"},
                                           {"a.b/1.seg.png", "a mask"},
                                           {"a.b/1.PNG", grey(11)},
                                           {"a.b/2.png", grey(12)},
                                           {"a.b/2.link", "", TarEntry::kLink},
                                           {"a.b/2.cls", "0"},
                                           {"c/2.cls", "9"},
                                           {"c/2.jpeg", encode_jpeg(solid(4, 4, {13}))}}));
  const TarShardsSource source = open(directory);
  ASSERT_EQ(source.size(), 3);
  expect_sample(source, 0, 11, 3);
  expect_sample(source, 1, 12, 0);
  expect_sample(source, 2, 13, 9);
}

// One shard of 100 samples is enough for any number of ranks: an epoch's order is over samples, not shards.
TEST(TarShards, FewShardsGiveEverySampleOnce) {
  for (const int shards : {1, 5}) {
    const TemporaryDirectory directory;
    for (int i = 0; i < shards; ++i) {
      write_file(directory / ("train-" + std::to_string(i) + ".tar"), shard(i * 100 / shards, 100 / shards));
    }
    const TarShardsSource source = open(directory);
    const Sampler sampler({.size = source.size(), .seed = 1});
    Loader loader(source, sampler, {}, {.threads = 2});
    std::vector<BatchRequest> requests;
    for (int64_t first = 0; first < 100; first += 25) requests.push_back({0, first, 25});
    loader.submit(requests);
    std::multiset<int> seen;
    for (size_t i = 0; i < requests.size(); ++i) {
      const Batch batch = loader.next();
      for (int64_t row = 0; row < 25; ++row)
        seen.insert(static_cast<int>(std::lround(batch.inputs.data<float>()[row * 16] * 255)));
    }
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 100U);
    EXPECT_EQ(seen.size(), 100U);
  }
}

TEST(TarShards, EmptyShardsArePassedOverWithANote) {
  const TemporaryDirectory directory;
  write_file(directory / "train-0.tar", "");
  write_file(directory / "train-1.tar", shard(4, 1));
  write_file(directory / "train-2.tar", tar({}));
  testing::internal::CaptureStderr();
  const TarShardsSource source = open(directory);
  const std::string log = testing::internal::GetCapturedStderr();
  expect_contains(log, "train-0.tar: an empty shard, passed over");
  expect_contains(log, "train-2.tar: an empty shard, passed over");
  ASSERT_EQ(source.size(), 1);
  expect_sample(source, 0, 4, 4);
  std::filesystem::remove(directory / "train-1.tar");
  expect_contains(error_of<DataError>([&] { open(directory); }), "its 2 shards hold no samples");
}

struct Row {
  const char* name;
  Bytes shard;
  const char* message;
};

TEST(TarShards, WhatIsWrongInAShardIsNamed) {
  const Bytes cut = shard(0, 20);
  const std::vector<Row> rows{
      {"CutInMidEntry", cut.substr(0, cut.size() / 3), "at byte "},
      {"TwoOfAKind", tar({{"a.cls", "1"}, {"a.png", grey(1)}, {"a.CLS", "1"}}),
       "sample \"a\" has two members cls"},
      {"TwoPictures", tar({{"a.png", grey(1)}, {"a.jpg", "x"}, {"a.cls", "1"}}),
       "sample \"a\" has two pictures"},
      {"NoPicture", tar({{"a.cls", "1"}, {"b.png", grey(1)}, {"b.cls", "1"}}), "sample \"a\" has no picture"},
      {"NoLabel", tar({{"a.png", grey(1)}}), "sample \"a\" has no label"},
      {"NoNumber", tar({{"a.png", grey(1)}, {"a.cls", "dog"}}),
       "sample \"a\" has the label \"dog\": expected a number"},
      {"EmptyLabel", tar({{"a.png", grey(1)}, {"a.cls", ""}}), "expected a number"},
      {"LongLabel", tar({{"a.png", grey(1)}, {"a.cls", Bytes(40, '1')}}), "has a label of 40 bytes"},
      {"LabelTen", tar({{"a.png", grey(1)}, {"a.cls", "10"}}), "has the label 10: expected 0 to 9"},
      {"LabelMinusOne", tar({{"a.png", grey(1)}, {"a.cls", "-1"}}), "has the label -1: expected 0 to 9"}};
  for (const Row& row : rows) {
    const TemporaryDirectory directory;
    write_file(directory / "train-0.tar", row.shard);
    const std::string text = error_of<DataError>([&] { open(directory); });
    expect_contains(text, directory / "train-0.tar");
    expect_contains(text, row.message);
  }
}

TEST(TarShards, CompressedShardsAreRefusedWithAdvice) {
  for (const char* name : {"train-0.tar.gz", "train-0.tgz", "train-0.tar.zst"}) {
    const TemporaryDirectory directory;
    write_file(directory / name, gzip(shard(0, 1)));
    const std::string text = error_of<DataError>([&] { open(directory); });
    expect_contains(text, directory / name);
    expect_contains(text, "unpack it to a plain .tar");
  }
}

TEST(TarShards, ABrokenPictureIsABadSampleThatIsNamed) {
  const TemporaryDirectory directory;
  write_file(directory / "train-0.tar",
             tar({{"a.png", grey(1).substr(0, 40)}, {"a.cls", "1"}, {"b.png", grey(2)}, {"b.cls", "2"}}));
  const TarShardsSource source = open(directory);
  std::vector<uint8_t> image(16);
  const auto read = [&](int64_t index) { read_label(source, index, image.data()); };
  expect_contains(error_of<BadSample>([&] { read(0); }), directory / "train-0.tar" + ": a.png: ");
  expect_sample(source, 1, 2, 2);
  EXPECT_THROW(read(-1), InvalidArgument);
  EXPECT_THROW(read(2), InvalidArgument);
  std::filesystem::remove(directory / "train-0.tar");
  EXPECT_THROW(read(1), BadSample);
}

TEST(TarShards, SaysWhatIsMissingOrImpossible) {
  const TemporaryDirectory directory;
  const std::string text = error_of<DataError>([&] { open(directory, Split::kTest); });
  for (const char* place : {"/val/*.tar", "/*val*.tar", "/test/*.tar", "/*test*.tar"}) {
    expect_contains(text, directory.path() + place);
  }
  expect_contains(error_of<InvalidArgument>([&] { open(directory, Split::kTrain, 0); }), "got 0");
  expect_contains(error_of<InvalidArgument>([&] {
                    TarShardsSource({.directory = directory.path(), .classes = 1, .picture = {2, 4}});
                  }),
                  "expected 1 or 3, got 2");
}

}  // namespace
}  // namespace lockstep::data

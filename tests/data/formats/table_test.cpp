#include "data/formats/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"
#include "tests/data/pictures.h"
#include "tests/data/read_label.h"
#include "tests/data/tar_files.h"

namespace lockstep::data {
namespace {

TEST(SourceTable, AnUnknownNameIsAnsweredByTheKnownOnes) {
  const std::string text = error_of<ConfigError>([] { open_source({.name = "mnits"}); });
  expect_contains(text, "unknown name \"mnits\"");
  for (const std::string& name : source_names()) expect_contains(text, name);
}

TEST(SourceTable, OpensIdxFilesWhereTheyAre) {
  const TemporaryDirectory directory;
  write_file(directory / "t10k-images-idx3-ubyte", image_file(6));
  write_file(directory / "t10k-labels-idx1-ubyte", label_file(6));
  const auto source =
      open_source({.name = "idx", .path = directory.path(), .split = Split::kTest, .classes = 6});
  EXPECT_EQ(source->size(), 6);
  EXPECT_EQ(source->spec().name, "idx");
  EXPECT_EQ(source->spec().classes, 6);
  expect_contains(
      error_of<DataError>([&] {
        open_source({.name = "idx", .path = directory.path(), .split = Split::kTest, .classes = 5});
      }),
      "label of sample 5");
}

TEST(SourceTable, WhatIsOnDiskNeedsAPath) {
  for (const char* name : {"cifar10", "cifar100", "idx", "image_folder", "tar_shards", "tokens"}) {
    const std::string text = error_of<ConfigError>([&] { open_source({.name = name}); });
    expect_contains(text, to_text("[", name, "] data.path: expected the directory that holds "));
  }
}

TEST(SourceTable, OpensImageFoldersAsAskedFor) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "train/a");
  write_file(directory / "train/a/1.png", encode_png(solid(2, 2, {1})));
  const auto source =
      open_source({.name = "image_folder", .path = directory.path(), .image_size = 6, .image_channels = 1});
  EXPECT_EQ(source->spec().shape, (Shape{1, 6, 6}));
  EXPECT_EQ(source->spec().classes, 1);
}

TEST(SourceTable, OpensTarFilesAsAskedFor) {
  const TemporaryDirectory directory;
  write_file(directory / "train-0.tar", tar({{"a.png", encode_png(solid(2, 2, {1}))}, {"a.cls", "6"}}));
  SourceOptions options{.name = "tar_shards", .path = directory.path(), .image_size = 6, .image_channels = 1};
  expect_contains(error_of<ConfigError>([&] { open_source(options); }),
                  "data.classes: expected the number of classes");
  options.classes = 7;
  EXPECT_EQ(open_source(options)->spec().shape, (Shape{1, 6, 6}));
  EXPECT_EQ(open_source(options)->spec().classes, 7);
}

TEST(SourceTable, OpensTokensAndCifarAsAskedFor) {
  const TemporaryDirectory directory;
  expect_contains(error_of<DataError>([&] { open_source({.name = "tokens", .path = directory.path()}); }),
                  "*train*.bin");
  for (const char* name : {"cifar10", "cifar100"}) {
    expect_contains(
        error_of<ConfigError>([&] { open_source({.name = name, .path = directory.path(), .classes = 11}); }),
        "data.classes: expected 10");
    expect_contains(error_of<DataError>([&] { open_source({.name = name, .path = directory.path()}); }),
                    ".bin");
  }
}

TEST(SourceTable, OpensSyntheticDataAsAskedFor) {
  const auto source =
      open_source({.name = "synthetic", .classes = 3, .size = 7, .shape = {3, 4, 5}, .seed = 9});
  EXPECT_EQ(source->size(), 7);
  EXPECT_EQ(source->spec().shape, (Shape{3, 4, 5}));
  EXPECT_EQ(source->spec().classes, 3);
}

TEST(SourceTable, MissingFashionMnistNamesThePackage) {
  const TemporaryDirectory directory;
  expect_contains(
      error_of<DataError>([&] { open_source({.name = "fashion_mnist", .path = directory / "none"}); }),
      "apt install dataset-fashion-mnist");
  expect_contains(
      error_of<DataError>([&] { open_source({.name = "fashion_mnist", .path = directory.path()}); }),
      "train-images-idx3-ubyte");
}

// The numbers are those that zcat and od show.
TEST(SourceTable, OpensFashionMnistAsDebianShipsIt) {
  const auto train = open_source({.name = "fashion_mnist"});
  const auto test = open_source({.name = "fashion_mnist", .split = Split::kTest});
  ASSERT_EQ(train->size(), 60000);
  ASSERT_EQ(test->size(), 10000);
  ASSERT_EQ(train->spec().shape, (Shape{1, 28, 28}));
  std::vector<uint8_t> image(28 * 28);
  const auto sum_of = [&](const DataSource& source, int64_t index, int64_t label) {
    EXPECT_EQ(read_label(source, index, image.data()), label);
    return std::accumulate(image.begin(), image.end(), 0);
  };
  EXPECT_EQ(sum_of(*train, 0, 9), 76247);
  EXPECT_EQ(sum_of(*train, 59999, 5), 16684);
  EXPECT_EQ(sum_of(*test, 9999, 5), 24390);
}

}  // namespace
}  // namespace lockstep::data

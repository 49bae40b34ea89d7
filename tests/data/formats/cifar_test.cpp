#include "data/formats/cifar.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"
#include "tests/data/read_label.h"

namespace lockstep::data {
namespace {

/// A file of zeros with one record in it: the labels, then pixels of so many 1, 2 and 3 for red, green, blue.
void put_file(const std::string& path, int64_t size, int64_t record, const Bytes& labels) {
  write_file(path, "");
  std::filesystem::resize_file(path, static_cast<uintmax_t>(size));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(record * static_cast<int64_t>(labels.size() + 3072));
  file << labels << Bytes(1024, '\1') << Bytes(1024, '\2') << Bytes(1024, '\3');
}

void put_ten(const TemporaryDirectory& directory) {
  for (int i = 1; i <= 5; ++i) {
    put_file(directory / ("data_batch_" + std::to_string(i) + ".bin"), 30730000, 10 * i,
             Bytes(1, static_cast<char>(i)));
  }
  put_file(directory / "test_batch.bin", 30730000, 9999, "\x09");
}

void expect_sample(const CifarSource& source, int64_t index, int64_t label) {
  std::vector<uint8_t> image(3072);
  EXPECT_EQ(read_label(source, index, image.data()), label);
  for (const size_t i : {0, 1023}) EXPECT_EQ(image[i], 1);
  for (const size_t i : {1024, 2047}) EXPECT_EQ(image[i], 2);
  for (const size_t i : {2048, 3071}) EXPECT_EQ(image[i], 3);
}

TEST(Cifar, ReadsTenClassesFromFiveFiles) {
  const TemporaryDirectory directory;
  put_ten(directory);
  const CifarSource train({.directory = directory.path()});
  ASSERT_EQ(train.size(), 50000);
  EXPECT_EQ(train.spec().shape, (Shape{3, 32, 32}));
  EXPECT_EQ(train.spec().classes, 10);
  EXPECT_EQ(train.spec().name, "cifar10");
  EXPECT_TRUE(train.spec().class_names.empty());
  for (int64_t i = 1; i <= 5; ++i) expect_sample(train, (i - 1) * 10000 + 10 * i, i);
  const CifarSource test({.directory = directory.path(), .split = Split::kTest});
  ASSERT_EQ(test.size(), 10000);
  expect_sample(test, 9999, 9);
}

TEST(Cifar, ReadsTheFineLabelsOfAHundredClasses) {
  const TemporaryDirectory directory;
  put_file(directory / "train.bin", 153700000, 49999, Bytes("\x13\x63"));
  put_file(directory / "test.bin", 30740000, 1, Bytes("\x01\x00", 2));
  const CifarSource train({.classes = 100, .directory = directory.path()});
  ASSERT_EQ(train.size(), 50000);
  expect_sample(train, 49999, 99);
  const CifarSource test({.classes = 100, .directory = directory.path(), .split = Split::kTest});
  ASSERT_EQ(test.size(), 10000);
  expect_sample(test, 1, 0);
}

TEST(Cifar, KnowsTheNamesOfTheClasses) {
  const TemporaryDirectory directory;
  put_file(directory / "test_batch.bin", 30730000, 0, "\x01");
  const auto open = [&] { return CifarSource({.directory = directory.path(), .split = Split::kTest}); };
  write_file(directory / "batches.meta.txt", "a\nb\nc\r\nd\ne\nf\ng\nh\ni\nj\n\n");
  EXPECT_EQ(open().spec().class_names[2], "c");
  write_file(directory / "batches.meta.txt", "a\nb\n");
  expect_contains(error_of<DataError>(open), "batches.meta.txt: expected 10 names of classes, found 2");
}

TEST(Cifar, RefusesFilesOfAnotherSize) {
  const TemporaryDirectory directory;
  put_ten(directory);
  const auto open = [&] { CifarSource({.directory = directory.path()}); };
  std::filesystem::resize_file(directory / "data_batch_3.bin", 30729999);
  expect_contains(error_of<DataError>(open),
                  "data_batch_3.bin: expected 30730000 bytes (10000 records), found 30729999");
  std::filesystem::remove(directory / "data_batch_3.bin");
  expect_contains(error_of<DataError>(open), "data_batch_3.bin: cannot be opened");
}

TEST(Cifar, ALabelThatIsNoClassIsNamed) {
  const TemporaryDirectory directory;
  put_ten(directory);
  put_file(directory / "data_batch_2.bin", 30730000, 7, "\x0a");
  const CifarSource source({.directory = directory.path()});
  std::vector<uint8_t> image(3072);
  expect_contains(error_of<DataError>([&] { read_label(source, 10007, image.data()); }),
                  "data_batch_2.bin: label of record 7: expected 0 to 9, got 10");
}

TEST(Cifar, RefusesWhatItIsNot) {
  expect_contains(error_of<InvalidArgument>([] { CifarSource({.classes = 20}); }),
                  "expected 10 or 100, got 20");
  const TemporaryDirectory directory;
  put_ten(directory);
  const CifarSource source({.directory = directory.path()});
  std::vector<uint8_t> image(3072);
  EXPECT_THROW(read_label(source, -1, image.data()), InvalidArgument);
  EXPECT_THROW(read_label(source, 50000, image.data()), InvalidArgument);
}

}  // namespace
}  // namespace lockstep::data

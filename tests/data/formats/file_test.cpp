#include "data/formats/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"

namespace lockstep::data {
namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(File, ReadsAnyPlace) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "0123456789");
  const File file(directory / "a");
  EXPECT_EQ(file.size(), 10);
  std::vector<std::byte> part(4);
  file.read(6, part);
  EXPECT_EQ(text_of(part), "6789");
  file.read(0, part);
  EXPECT_EQ(text_of(part), "0123");
}

TEST(File, ReadsAWholeFileIntoUsedMemory) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "0123456789");
  write_file(directory / "empty", "");
  std::vector<std::byte> content(99);
  read_file(directory / "a", content);
  EXPECT_EQ(text_of(content), "0123456789");
  read_file(directory / "empty", content);
  EXPECT_TRUE(content.empty());
}

TEST(File, SaysWhatIsMissing) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "0123456789");
  const File file(directory / "a");
  std::vector<std::byte> part(4);
  expect_contains(error_of<DataError>([&] { file.read(7, part); }),
                  "/a: expected 4 bytes at byte 7, found 3");
  expect_contains(error_of<DataError>([&] { File(directory / "b"); }),
                  "/b: cannot be opened: No such file or directory");
  expect_contains(error_of<DataError>([&] { File{directory.path()}; }), "is no regular file");
}

TEST(File, DoesNotWaitForTheWriterOfANamedPipe) {
  const TemporaryDirectory directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  expect_contains(error_of<DataError>([&] { File(directory / "pipe"); }), "/pipe: is no regular file");
}

TEST(File, ShowsTheFirstBytesOfAFile) {
  const std::string text = "<!DOCTYPE html>\n<html>";
  EXPECT_EQ(show_start(std::as_bytes(std::span(text))), "\"<!DOCTYPE html>.\"");
  EXPECT_EQ(show_start({}), "\"\"");
}

}  // namespace
}  // namespace lockstep::data

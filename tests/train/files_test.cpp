#include "train/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
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

void write_hello(FileWriter& writer) {
  writer.append("hello");
}

TEST(FileWriter, TellsSizeAndHashOfWhatItWrote) {
  const TemporaryFolder folder;
  FileWriter writer(folder.path("file"));
  writer.append("hel");
  writer.append("");
  writer.append("lo");
  const FileDigest digest = writer.finish();
  EXPECT_EQ(digest.nbytes, 5U);
  EXPECT_EQ(digest, digest_of(folder.path("file")));
  EXPECT_EQ(content_of(folder.path("file")), "hello");
}

TEST(FileWriter, CompletesShortWritesAndInterruptedOnes) {
  const TemporaryFolder folder;
  FileOperations operations = system_files();
  int calls = 0;
  operations.write = [&](int file, const void* data, size_t nbytes) -> ssize_t {
    if (++calls % 2 == 0) {
      errno = EINTR;
      return -1;
    }
    return ::write(file, data, std::min<size_t>(nbytes, 2));
  };
  FileWriter writer(folder.path("file"), operations);
  writer.append("hello");
  EXPECT_EQ(writer.finish(), digest_of(folder.path("file")));
  EXPECT_EQ(calls, 5);
}

TEST(FileWriter, CopiesAFile) {
  const TemporaryFolder folder;
  const std::string text(1024 * 1024 + 3, 'a');
  std::ofstream(folder.path("from")) << text;
  FileWriter writer(folder.path("to"));
  writer.append(">");
  writer.append_file(folder.path("from"));
  EXPECT_EQ(writer.finish(), digest_of(folder.path("to")));
  EXPECT_EQ(content_of(folder.path("to")), ">" + text);
  EXPECT_THROW(writer.append_file(folder.path("nowhere")), FileError);
}

TEST(DigestOf, SeesEveryByteOfALargeFile) {
  const TemporaryFolder folder;
  std::string text(3 * 1024 * 1024 + 1, 'a');
  std::ofstream(folder.path("a")) << text;
  text.back() = 'b';
  std::ofstream(folder.path("b")) << text;
  const FileDigest a = digest_of(folder.path("a"));
  const FileDigest b = digest_of(folder.path("b"));
  EXPECT_EQ(a.nbytes, text.size());
  EXPECT_EQ(b.nbytes, text.size());
  EXPECT_NE(a.hash, b.hash);
  EXPECT_EQ(digest_of("/dev/null").nbytes, 0U);
}

TEST(FileDescriptor, NamesTheFileAndTheReason) {
  const TemporaryFolder folder;
  try {
    const FileDescriptor file(folder.path("absent"), O_RDONLY);
    ADD_FAILURE() << "opened a file that does not exist";
  } catch (const FileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "[open] \"" + folder.path("absent") + "\": No such file or directory");
    EXPECT_FALSE(error.transient());
  }
}

TEST(FileDescriptor, ReadingBeyondTheEndIsADataError) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "12345";
  const FileDescriptor file(folder.path("file"), O_RDONLY);
  char two[3] = "";
  file.read_at(3, two, 2);
  EXPECT_STREQ(two, "45");
  EXPECT_THROW(file.read_at(4, two, 2), DataError);
}

TEST(ReplaceFile, ReplacesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "old";
  replace_file(folder.path("file"), write_hello);
  EXPECT_EQ(content_of(folder.path("file")), "hello");
  EXPECT_FALSE(std::filesystem::exists(folder.path("file.partial")));
}

/// What fails, and whether a later try may succeed.
struct Fault {
  const char* call;
  int error_number;
  bool transient;
};

class ReplaceFileFault : public ::testing::TestWithParam<Fault> {};

TEST_P(ReplaceFileFault, KeepsTheOldFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "old";
  const std::string call = GetParam().call;
  const auto fail = [] {
    errno = GetParam().error_number;
    return -1;
  };
  FileOperations operations = system_files();
  if (call == "write") operations.write = [&](int, const void*, size_t) { return fail(); };
  if (call == "fsync") operations.fsync = [&](int) { return fail(); };
  if (call == "rename") operations.rename = [&](const char*, const char*) { return fail(); };
  try {
    replace_file(folder.path("file"), write_hello, operations);
    ADD_FAILURE() << "the failing " << call << " went unnoticed";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[" + call + "]"));
    EXPECT_THAT(error.what(), HasSubstr(folder.path("file")));
    EXPECT_EQ(error.transient(), GetParam().transient);
  }
  EXPECT_EQ(content_of(folder.path("file")), "old");
  EXPECT_FALSE(std::filesystem::exists(folder.path("file.partial")));
}

INSTANTIATE_TEST_SUITE_P(All, ReplaceFileFault,
                         ::testing::Values(Fault{"write", EIO, true}, Fault{"write", ENOSPC, false},
                                           Fault{"fsync", EIO, true}, Fault{"rename", EACCES, false}));

}  // namespace
}  // namespace lockstep::train

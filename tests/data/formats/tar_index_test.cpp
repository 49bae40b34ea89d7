#include "data/formats/tar_index.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/tar_files.h"

namespace lockstep::data {
namespace {

struct Member {
  std::string name;
  Bytes content;
  bool operator==(const Member&) const = default;
};

/// Names, and the bytes at the places that the index names.
std::vector<Member> members_of(const Bytes& bytes) {
  const TemporaryDirectory directory;
  write_file(directory / "a.tar", bytes);
  std::vector<Member> members;
  list_tar(directory / "a.tar", [&](const TarMember& member) {
    members.push_back(
        {member.name, bytes.substr(static_cast<size_t>(member.offset), static_cast<size_t>(member.size))});
  });
  return members;
}

const std::string kLongName = std::string(60, 'd') + "/" + std::string(70, 'n') + ".jpg";

TEST(TarIndex, FindsEveryMemberInEveryDialect) {
  for (const TarDialect dialect : {TarDialect::kPosix, TarDialect::kGnu, TarDialect::kOld}) {
    std::vector<TarEntry> entries{{"a.jpg", "picture"},
                                  {"empty", ""},
                                  {"large", Bytes(300000, 'x') + "end"},
                                  {"whole", Bytes(1024, 'y')},
                                  {"b.cls", "7"}};
    if (dialect != TarDialect::kOld) entries.push_back({kLongName, "long"});
    entries.push_back({"last", "z"});
    const std::vector<Member> members = members_of(tar(entries, dialect));
    ASSERT_EQ(members.size(), entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(members[i], (Member{entries[i].name, entries[i].content}));
    }
  }
}

TEST(TarIndex, OnlyRegularFilesAreMembers) {
  const Bytes bytes = tar({{"folder", "", TarEntry::kFolder},
                           {"folder/a", "1"},
                           {"link", "", TarEntry::kLink},
                           {"other", "", TarEntry::kHardLink},
                           {"b", "2"}});
  EXPECT_EQ(members_of(bytes), (std::vector<Member>{{"folder/a", "1"}, {"b", "2"}}));
}

TEST(TarIndex, AnEmptyFileHasNoMembers) {
  EXPECT_TRUE(members_of("").empty());
  EXPECT_TRUE(members_of(tar({})).empty());
}

TEST(TarIndex, ACutFileIsNamedWithTheOffset) {
  const Bytes bytes = tar({{"a", "1"}, {"b", Bytes(100000, 'x')}}, TarDialect::kGnu);
  const auto text_of = [&](size_t size) {
    return error_of<DataError>([&] { members_of(bytes.substr(0, size)); });
  };
  expect_contains(text_of(50000), "/a.tar");
  expect_contains(text_of(50000), "cut short");
  expect_contains(text_of(50000), "member at byte 1024");
  expect_contains(text_of(1300), "behind the member at byte 0");
}

TEST(TarIndex, NeverSucceedsOnAFileCutInsideAMember) {
  const Bytes bytes = tar({{"a", "1"}, {"b", Bytes(3000, 'x')}, {"c", Bytes(700, 'y')}}, TarDialect::kGnu);
  // Headers of 512 bytes and contents in blocks of 512.
  constexpr size_t kEndOfFirst = 1024;
  constexpr size_t kEndOfSecond = kEndOfFirst + 512 + 3072;
  constexpr size_t kEndOfThird = kEndOfSecond + 512 + 700;
  for (size_t size = 1; size < kEndOfThird; size += 61) {
    if (size == kEndOfFirst || size == kEndOfSecond) continue;
    EXPECT_THROW(members_of(bytes.substr(0, size)), DataError) << size;
  }
}

TEST(TarIndex, WhatIsNoTarFileIsNamed) {
  const Bytes page = "<!DOCTYPE html>" + Bytes(2000, ' ');
  expect_contains(error_of<DataError>([&] { members_of(page); }), "no tar file");
  expect_contains(error_of<DataError>([&] { members_of(gzip(tar({{"a", "1"}}))); }), "no tar file");
  expect_contains(error_of<DataError>([&] { list_tar("/none.tar", [](const TarMember&) {}); }), "/none.tar");
}

TEST(TarIndex, MembersWithHolesAreRefused) {
  const Bytes bytes = tar({{"a", Bytes(4096, 'x'), TarEntry::kWithHoles}});
  expect_contains(error_of<DataError>([&] { members_of(bytes); }), "\"a\" at byte 0 has holes");
}

/// A file whose header says the size a second time, as GNU's do of files with holes.
Bytes tar_with_real_size(const Bytes& size) {
  constexpr size_t kRealSize = 483;
  constexpr size_t kChecksum = 148;
  Bytes bytes = tar({{"a", "1"}}, TarDialect::kGnu).replace(kRealSize, size.size(), size);
  bytes.replace(kChecksum, 8, 8, ' ');
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[i]);
  std::ostringstream digits;
  digits << std::oct << sum;
  return bytes.replace(kChecksum, digits.str().size() + 1, digits.str().c_str(), digits.str().size() + 1);
}

TEST(TarIndex, ASizeThatIsNotThatOfTheContentIsRefused) {
  EXPECT_EQ(members_of(tar_with_real_size("00000000001")), (std::vector<Member>{{"a", "1"}}));
  const auto text_of = [&](const Bytes& size) {
    return error_of<DataError>([&] { members_of(tar_with_real_size(size)); });
  };
  expect_contains(text_of("00000001001"), "\"a\" at byte 0 has 513 bytes: expected 0 to 512");
  expect_contains(text_of(Bytes(12, '\xff')), "has -1 bytes");
  expect_contains(text_of("\xff\xff\xff\xff\x80" + Bytes(7, '\0')), to_text("has ", INT64_MIN, " bytes"));
}

}  // namespace
}  // namespace lockstep::data

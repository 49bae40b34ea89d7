#include "data/formats/byte_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"

namespace lockstep::data {
namespace {

Bytes read_bytes(ByteStream& stream, size_t count) {
  Bytes bytes(count, '\0');
  stream.read(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

constexpr size_t kGzipHeader = 10;  // bytes, without its optional fields
constexpr size_t kTextBytes = 150;

/// Some of it repeats itself.
Bytes some_text() {
  Bytes text;
  for (size_t i = 0; text.size() < kTextBytes; ++i) text += std::to_string(i * i * i % 1009);
  text.resize(kTextBytes);
  return text;
}

/// Of a file that should hold some_text().
Bytes read_whole(const std::string& path) {
  ByteStream stream(path);
  const Bytes bytes = read_bytes(stream, kTextBytes);
  stream.finish();
  return bytes;
}

class ByteStreamTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const Bytes& bytes) {
    write_file(directory_ / name, bytes);
    return directory_ / name;
  }
  TemporaryDirectory directory_;
};

TEST_F(ByteStreamTest, ReadsPlainAndGzipAlike) {
  for (const auto& [name, bytes] : {std::pair("a", Bytes("0123456789")),
                                    {"stored.gz", gzip("0123456789")},
                                    {"b.gz", gzip("0123456789", 9)}}) {
    ByteStream stream(file(name, bytes));
    stream.expect_size(10, "ten");
    EXPECT_EQ(read_bytes(stream, 4), "0123") << name;
    EXPECT_EQ(stream.position(), 4U);
    EXPECT_EQ(read_bytes(stream, 6), "456789") << name;
    stream.finish();
  }
}

TEST_F(ByteStreamTest, AMovedStreamGoesOn) {
  ByteStream first(file("a.gz", gzip("0123456789")));
  EXPECT_EQ(read_bytes(first, 3), "012");
  ByteStream second = std::move(first);
  EXPECT_EQ(second.position(), 3U);
  EXPECT_EQ(read_bytes(second, 3), "345");
}

TEST_F(ByteStreamTest, ReadingPastTheEndNamesFileAndByte) {
  ByteStream stream(file("a", "0123456789"));
  const std::string text = error_of<DataError>([&] { read_bytes(stream, 11); });
  expect_contains(text, "/a: ends early; after byte 10 of its content, file size 10");
}

TEST_F(ByteStreamTest, FinishWantsTheEnd) {
  for (const auto& [name, bytes] : {std::pair("a", Bytes("0123456789")), {"b.gz", gzip("0123456789")}}) {
    ByteStream stream(file(name, bytes));
    read_bytes(stream, 9);
    expect_contains(error_of<DataError>([&] { stream.finish(); }),
                    "goes on after its declared content; after byte 9");
  }
}

TEST_F(ByteStreamTest, FinishChecksTheChecksum) {
  const auto [content, packed] = damage_behind_the_content(5);
  ByteStream stream(file("a.gz", packed));
  EXPECT_EQ(read_bytes(stream, content.size()), content);
  const std::string text = error_of<DataError>([&] { stream.finish(); });
  expect_contains(text, "incorrect data check");
  EXPECT_EQ(text.find("/a.gz"), text.rfind("/a.gz")) << "the path appears once in: " << text;
}

TEST_F(ByteStreamTest, FinishChecksTheLength) {
  Bytes bytes = gzip("0123456789");
  bytes[bytes.size() - 4] = 11;
  ByteStream stream(file("a.gz", bytes));
  stream.expect_size(11, "eleven");
  expect_contains(error_of<DataError>([&] { read_bytes(stream, 11); }), "incorrect length check");
}

TEST_F(ByteStreamTest, NothingMayFollowTheGzipData) {
  const Bytes bytes = gzip("0123456789");
  const Bytes length = bytes.substr(bytes.size() - 4);  // at the end once more, so that the sizes agree
  for (const Bytes& extra : {length, "junk" + length, bytes, Bytes(300 << 10, '\0') + length}) {
    ByteStream stream(file("a.gz", bytes + extra));
    stream.expect_size(10, "ten");
    EXPECT_EQ(read_bytes(stream, 10), "0123456789");
    expect_contains(error_of<DataError>([&] { stream.finish(); }),
                    "extra bytes after the end of its gzip data; after byte 10 of its content");
  }
}

TEST_F(ByteStreamTest, ASecondGzipMemberIsNotReadOn) {
  ByteStream stream(file("a.gz", gzip("01234") + gzip("0123456789")));
  stream.expect_size(10, "ten");
  expect_contains(error_of<DataError>([&] { read_bytes(stream, 10); }), "ends early; after byte 5");
}

TEST_F(ByteStreamTest, NoCutFileReadsToItsEnd) {
  for (const int level : {0, 1, 9}) {
    const Bytes bytes = gzip(some_text(), level);
    for (size_t size = 18; size < bytes.size(); ++size) {
      const std::string path = file("a.gz", bytes.substr(0, size));
      expect_contains(error_of<DataError>([&] { read_whole(path); }),
                      "damaged or cut short (unexpected end of file); after byte ");
    }
  }
}

// Bits that fill up the last byte of a block mean nothing, so some flips leave the content as it was.
TEST_F(ByteStreamTest, NoFlippedBitChangesTheContent) {
  for (const int level : {0, 9}) {
    const Bytes bytes = gzip(some_text(), level);
    int found = 0;
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      Bytes damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const std::string path = file("a.gz", damaged);
      try {
        EXPECT_EQ(read_whole(path), some_text()) << "bit " << bit << " at level " << level;
      } catch (const DataError&) {
        ++found;
      }
    }
    EXPECT_GT(found, 8 * static_cast<int>(bytes.size() - kGzipHeader) - 16) << level;
  }
}

TEST_F(ByteStreamTest, FieldsOfTheGzipHeaderAreSkipped) {
  Bytes bytes = gzip("0123456789");
  bytes[3] = 0x1c;
  bytes.insert(kGzipHeader, Bytes("\3\0xyzname\0comment", 17) + '\0');
  ByteStream stream(file("a.gz", bytes));
  EXPECT_EQ(read_bytes(stream, 10), "0123456789");
  stream.finish();
}

TEST_F(ByteStreamTest, RefusesGzipHeadersThatItDoesNotKnow) {
  for (const auto& [position, value, message] : {std::tuple(2, 7, "unknown compression method"),
                                                 {3, 0x20, "unknown flags in the gzip header"},
                                                 {3, 0x80, "unknown flags in the gzip header"},
                                                 {3, 0x02, "incorrect header check"}}) {
    Bytes bytes = gzip("0123456789");
    bytes[static_cast<size_t>(position)] = static_cast<char>(value);
    const std::string path = file("a.gz", bytes);
    expect_contains(error_of<DataError>([&] {
                      ByteStream stream(path);
                      read_bytes(stream, 10);
                    }),
                    message);
  }
}

TEST_F(ByteStreamTest, SizesAreComparedBeforeReading) {
  expect_contains(
      error_of<DataError>([&] { ByteStream(file("a", "0123456789")).expect_size(12, "header: 3 x 4"); }),
      "/a: expected 12 bytes (header: 3 x 4), found 10");
  expect_contains(error_of<DataError>(
                      [&] { ByteStream(file("b.gz", gzip("0123456789"))).expect_size(12, "header: 3 x 4"); }),
                  "/b.gz: expected 12 bytes (header: 3 x 4), found 10 in the gzip trailer");
}

TEST_F(ByteStreamTest, RefusesWhatDeflateCannotHold) {
  const Bytes bytes = gzip("0123456789");
  const uint64_t lie = (uint64_t{1} << 32) + 10;  // the trailer counts modulo 2^32
  expect_contains(error_of<DataError>([&] { ByteStream(file("a.gz", bytes)).expect_size(lie, "header"); }),
                  "more than a gzip file of 33 bytes can hold");
}

TEST_F(ByteStreamTest, RefusesFilesThatAreNotWhatTheirNameSays) {
  expect_contains(error_of<DataError>([&] { ByteStream(directory_ / "none"); }), "No such file");
  expect_contains(error_of<DataError>([&] { ByteStream{directory_.path()}; }), "Is a directory");
  expect_contains(error_of<DataError>([&] { ByteStream(file("empty", "")); }), "is empty");
  expect_contains(error_of<DataError>([&] { ByteStream(file("empty.gz", "")); }), "is empty");
  expect_contains(error_of<DataError>([&] { ByteStream(file("page.gz", "<!DOCTYPE html><html>")); }),
                  "not a gzip file: it begins with \"<!DOCTYPE html><\"");
  expect_contains(error_of<DataError>([&] { ByteStream(file("x.gz", "x")); }), "not a gzip file");
  expect_contains(error_of<DataError>([&] { ByteStream(file("x.bin", gzip("x"))); }),
                  "a gzip file; its name should end in .gz");
  expect_contains(error_of<DataError>([&] { ByteStream(file("cut.gz", gzip("0123").substr(0, 17))); }),
                  "cut short: a gzip file has at least 18 bytes");
}

}  // namespace
}  // namespace lockstep::data

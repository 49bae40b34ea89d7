#include "data/formats/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/error.h"

namespace lockstep::data {

namespace {

constexpr unsigned kBufferBytes = 256 << 10;
/// Header and trailer of a gzip file (RFC 1952).
constexpr uint64_t kGzipOverhead = 18;
/// Deflate turns at most 1032 bytes into one (zlib's technical details).
constexpr uint64_t kGreatestRatio = 1032;

gzFile gzip_handle(void* file) {
  return static_cast<gzFile>(file);
}

/// The first bytes as text where they are text: "<!DOCTYPE html>" says more than its code.
std::string show_start(std::span<const char> bytes) {
  std::string text;
  for (const char byte : bytes) text += std::isprint(static_cast<unsigned char>(byte)) != 0 ? byte : '.';
  return "\"" + text + "\"";
}

}  // namespace

void ByteStream::Closer::operator()(void* file) const {
  gzclose(gzip_handle(file));
}

ByteStream::ByteStream(const std::string& path) : path_(path), is_gzip_(path.ends_with(".gz")) {
  std::error_code error;
  file_size_ = std::filesystem::file_size(path, error);
  check<DataError>(!error, "data", path, ": cannot be read: ", error.message());
  if (file_size_ == 0) fail("is empty");
  check_start();
  content_size_ = is_gzip_ ? gzip_content_size() : file_size_;
  file_.reset(gzopen(path.c_str(), "rb"));
  check<DataError>(file_ != nullptr, "data", path, ": cannot be opened: ", std::strerror(errno));
  gzbuffer(gzip_handle(file_.get()), kBufferBytes);
}

void ByteStream::check_start() const {
  std::ifstream file(path_, std::ios::binary);
  std::array<char, 16> start{};
  file.read(start.data(), start.size());
  const auto found = std::span(start).first(static_cast<size_t>(file.gcount()));
  const bool holds_gzip = found.size() >= 2 && found[0] == '\x1f' && found[1] == '\x8b';
  if (is_gzip_ && !holds_gzip) fail("named .gz but not a gzip file: it begins with " + show_start(found));
  if (!is_gzip_ && holds_gzip) fail("a gzip file; its name should end in .gz");
  if (is_gzip_ && file_size_ < kGzipOverhead) fail("cut short: a gzip file has at least 18 bytes");
}

uint64_t ByteStream::gzip_content_size() const {
  std::ifstream file(path_, std::ios::binary);
  std::array<unsigned char, 4> length{};
  file.seekg(-4, std::ios::end);
  file.read(reinterpret_cast<char*>(length.data()), length.size());
  return length[0] | uint64_t{length[1]} << 8 | uint64_t{length[2]} << 16 | uint64_t{length[3]} << 24;
}

void ByteStream::read(std::span<std::byte> target) {
  while (!target.empty()) {
    const size_t wanted = std::min<size_t>(target.size(), 1 << 30);  // gzread counts in int
    const int count = gzread(gzip_handle(file_.get()), target.data(), static_cast<unsigned>(wanted));
    position_ += static_cast<uint64_t>(std::max(count, 0));
    if (static_cast<size_t>(std::max(count, 0)) < wanted) {
      const std::string error = zlib_error();
      fail(error.empty() ? "ends early" : "damaged or cut short (" + error + ")");
    }
    target = target.subspan(wanted);
  }
}

void ByteStream::expect_size(uint64_t expected, const std::string& declared) const {
  const uint64_t comparable = is_gzip_ ? expected & 0xffffffff : expected;
  const char* where = is_gzip_ ? " in the gzip trailer" : "";
  const char* hint =
      is_gzip_ ? "; the file is cut short, has extra bytes at its end, or its header is wrong" : "";
  check<DataError>(comparable == content_size_, "data", path_, ": expected ", expected, " bytes (", declared,
                   "), found ", content_size_, where, hint, " (file size ", file_size_, ")");
  check<DataError>(!is_gzip_ || expected / kGreatestRatio <= file_size_, "data", path_, ": expected ",
                   expected, " bytes (", declared, "), more than a gzip file of ", file_size_,
                   " bytes can hold");
}

void ByteStream::finish() {
  std::byte extra;
  const int count = gzread(gzip_handle(file_.get()), &extra, 1);
  if (count > 0) fail("goes on after its declared content");
  const std::string error = zlib_error();
  if (!error.empty()) fail("damaged (" + error + ")");
}

std::string ByteStream::zlib_error() const {
  int code = Z_OK;
  std::string text = gzerror(gzip_handle(file_.get()), &code);
  const std::string prefix = path_ + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return code == Z_OK ? "" : text;
}

void ByteStream::fail(const std::string& problem) const {
  throw DataError(to_text("[data] ", path_, ": ", problem, "; after byte ", position_,
                          " of its content, file size ", file_size_));
}

}  // namespace lockstep::data

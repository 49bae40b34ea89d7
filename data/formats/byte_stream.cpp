#include "data/formats/byte_stream.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "data/formats/file.h"
#include "runtime/error.h"

namespace lockstep::data {

namespace {

constexpr size_t kInputBytes = 256 << 10;
/// Header and trailer of a gzip file (RFC 1952).
constexpr uint64_t kGzipOverhead = 18;
constexpr unsigned kReservedFlags = 0xe0;
constexpr size_t kGreatestOutput = 1 << 30;  // ISA-L counts in 32 bits
/// Deflate turns at most 1032 bytes into one (zlib's technical details).
constexpr uint64_t kGreatestRatio = 1032;

}  // namespace

struct ByteStream::Unpacker {
  inflate_state state;
  std::array<std::byte, kInputBytes> input;  ///< what state.next_in points into
};

ByteStream::ByteStream(const std::string& path) : path_(path), is_gzip_(path.ends_with(".gz")) {
  std::error_code error;
  file_size_ = std::filesystem::file_size(path, error);
  check<DataError>(!error, "data", path, ": cannot be read: ", error.message());
  if (file_size_ == 0) fail("is empty");
  check_start();
  content_size_ = is_gzip_ ? gzip_content_size() : file_size_;
  file_.open(path, std::ios::binary);
  check<DataError>(file_.is_open(), "data", path, ": cannot be opened: ", std::strerror(errno));
  if (!is_gzip_) return;
  unpacker_ = std::make_unique<Unpacker>();
  isal_inflate_init(&unpacker_->state);
  unpacker_->state.crc_flag = ISAL_GZIP;  // reads the header, compares checksum and length with the trailer
}

ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

void ByteStream::check_start() const {
  std::ifstream file(path_, std::ios::binary);
  std::array<char, 16> start{};
  file.read(start.data(), start.size());
  const auto found = std::span(start).first(static_cast<size_t>(file.gcount()));
  const bool holds_gzip = found.size() >= 2 && found[0] == '\x1f' && found[1] == '\x8b';
  if (is_gzip_ && !holds_gzip)
    fail("named .gz but not a gzip file: it begins with " + show_start(std::as_bytes(found)));
  if (!is_gzip_ && holds_gzip) fail("a gzip file; its name should end in .gz");
  if (is_gzip_ && file_size_ < kGzipOverhead) fail("cut short: a gzip file has at least 18 bytes");
  if (is_gzip_ && (static_cast<unsigned char>(start[3]) & kReservedFlags) != 0)
    fail("damaged (unknown flags in the gzip header)");  // ISA-L lets them pass
}

uint64_t ByteStream::gzip_content_size() const {
  std::ifstream file(path_, std::ios::binary);
  std::array<unsigned char, 4> length{};
  file.seekg(-4, std::ios::end);
  file.read(reinterpret_cast<char*>(length.data()), length.size());
  return length[0] | uint64_t{length[1]} << 8 | uint64_t{length[2]} << 16 | uint64_t{length[3]} << 24;
}

void ByteStream::read(std::span<std::byte> target) {
  if (fill(target) < target.size()) fail("ends early");
}

size_t ByteStream::fill(std::span<std::byte> target) {
  if (is_gzip_) return unpack(target);
  const size_t count = read_file(target);
  position_ += count;
  return count;
}

size_t ByteStream::read_file(std::span<std::byte> target) {
  file_.read(reinterpret_cast<char*>(target.data()), static_cast<std::streamsize>(target.size()));
  if (file_.bad()) fail(to_text("cannot be read: ", std::strerror(errno)));
  return static_cast<size_t>(file_.gcount());
}

std::string ByteStream::describe(int result) const {
  const inflate_state& state = unpacker_->state;
  switch (result) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid code";
    case ISAL_INVALID_LOOKBACK:
      return "invalid distance too far back";
    case ISAL_UNSUPPORTED_METHOD:
      return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
      if (state.wrapper_flag == 0) return "incorrect header check";
      return state.total_out == content_size_ ? "incorrect data check" : "incorrect length check";
    default:
      return to_text("error ", result, " of ISA-L");
  }
}

size_t ByteStream::unpack(std::span<std::byte> target) {
  inflate_state& state = unpacker_->state;
  size_t filled = 0;
  while (filled < target.size() && state.block_state != ISAL_BLOCK_FINISH) {
    if (state.avail_in == 0) {
      state.avail_in = static_cast<uint32_t>(read_file(unpacker_->input));
      state.next_in = reinterpret_cast<uint8_t*>(unpacker_->input.data());
    }
    const uint32_t input = state.avail_in;
    const auto wanted = static_cast<uint32_t>(std::min(target.size() - filled, kGreatestOutput));
    state.next_out = reinterpret_cast<uint8_t*>(target.data() + filled);
    state.avail_out = wanted;
    const int result = isal_inflate(&state);
    const uint32_t count = wanted - state.avail_out;
    filled += count;
    position_ += count;
    if (result < 0) fail("damaged or cut short (" + describe(result) + ")");
    // At the end of the file, ISA-L asks for more by doing nothing.
    const bool stuck = count == 0 && state.avail_in == input && state.block_state != ISAL_BLOCK_FINISH;
    if (stuck) fail("damaged or cut short (unexpected end of file)");
  }
  return filled;
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
  if (fill({&extra, 1}) > 0) {
    --position_;
    fail("goes on after its declared content");
  }
  if (is_gzip_ && (unpacker_->state.avail_in > 0 || file_.peek() != std::ifstream::traits_type::eof()))
    fail("has extra bytes after the end of its gzip data");
}

void ByteStream::fail(const std::string& problem) const {
  throw DataError(to_text("[data] ", path_, ": ", problem, "; after byte ", position_,
                          " of its content, file size ", file_size_));
}

}  // namespace lockstep::data

// The content of a file from its beginning to its end, unpacked on the way if the file's name ends in .gz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>

namespace lockstep::data {

/// One thread at a time. Everything that is wrong with the file throws DataError naming it and the sizes
/// found; the stream is of no further use then.
class ByteStream {
 public:
  /// What the name says must be so: a web page or plain data named .gz is refused here, and so is gzip data
  /// that is not.
  explicit ByteStream(const std::string& path);
  ByteStream(ByteStream&&) noexcept;
  ~ByteStream();

  const std::string& path() const { return path_; }
  /// Bytes read so far, of the unpacked content.
  uint64_t position() const { return position_; }
  /// Fills `target` with the next bytes.
  void read(std::span<std::byte> target);

  /// Throws unless the whole content has `expected` bytes, before a byte of it is read or memory for it
  /// allocated. `declared` says in the message where that number comes from. A gzip file is judged by the
  /// length in its trailer, which a cut file and one with trailing bytes fail too, and by the greatest ratio
  /// that deflate can reach.
  void expect_size(uint64_t expected, const std::string& declared) const;
  /// Checks that the content ends here, and with it the checksum and length of a gzip file, which must hold
  /// nothing after them: neither other bytes nor a second gzip member.
  void finish();

 private:
  void check_start() const;
  uint64_t gzip_content_size() const;
  size_t fill(std::span<std::byte> target);       ///< less than asked only at the end of the content
  size_t read_file(std::span<std::byte> target);  ///< as it is, less than asked only at the end of the file
  size_t unpack(std::span<std::byte> target);
  std::string describe(int result) const;  ///< of isal_inflate, below 0
  [[noreturn]] void fail(const std::string& problem) const;

  struct Unpacker;  ///< ISA-L's state and its piece of the file: 350 KB, whatever the file's size

  std::string path_;
  bool is_gzip_;
  uint64_t file_size_ = 0;
  uint64_t content_size_ = 0;  ///< modulo 2^32 for gzip
  uint64_t position_ = 0;
  std::ifstream file_;
  std::unique_ptr<Unpacker> unpacker_;  ///< gzip only
};

}  // namespace lockstep::data

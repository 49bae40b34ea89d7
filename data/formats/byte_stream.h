// The content of a file from its beginning to its end, unpacked on the way if the file's name ends in .gz.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lockstep::data {

/// One thread at a time. Everything that is wrong with the file throws DataError naming it and the sizes
/// found.
class ByteStream {
 public:
  /// What the name says must be so: a web page or plain data named .gz is refused here, and so is gzip data
  /// that is not.
  explicit ByteStream(const std::string& path);

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
  /// Checks that the content ends here, and with it the checksum of a gzip file.
  void finish();

 private:
  void check_start() const;
  uint64_t gzip_content_size() const;
  std::string zlib_error() const;  ///< empty: none
  [[noreturn]] void fail(const std::string& problem) const;

  struct Closer {
    void operator()(void* file) const;
  };

  std::string path_;
  bool is_gzip_;
  uint64_t file_size_ = 0;
  uint64_t content_size_ = 0;  ///< modulo 2^32 for gzip
  uint64_t position_ = 0;
  std::unique_ptr<void, Closer> file_;  ///< zlib's gzFile, which reads plain files as well
};

}  // namespace lockstep::data

// A file that is read at any place, by any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::data {

/// Throws DataError naming the file.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  /// Fills `target` with the bytes from `offset` on; an error when the file ends before.
  void read(int64_t offset, std::span<std::byte> target) const;

 private:
  std::string path_;
  int descriptor_;
  int64_t size_ = 0;
};

/// The whole content, in memory that is used again.
void read_file(const std::string& path, std::vector<std::byte>& content);

/// The first bytes for a message, as text where they are text: "<!DOCTYPE html>" says more than its code.
std::string show_start(std::span<const std::byte> bytes);

}  // namespace lockstep::data

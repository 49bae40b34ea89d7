// IDX and gzip files for tests, sound ones and damaged ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::data {

/// An empty directory that goes with its object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

using Bytes = std::string;

/// An IDX file: the magic number, the extents, the values.
Bytes idx_bytes(uint32_t magic, const std::vector<uint32_t>& extents, const Bytes& values);
/// `count` images of 3 x 4 pixels: pixel i of image n is (10 n + i) mod 256.
Bytes image_file(uint32_t count);
/// `count` labels: label n is n mod 10.
Bytes label_file(uint32_t count);

/// Compressed in stored blocks (level 0), so that its bytes are where one expects them, or by any other zlib
/// level.
Bytes gzip(const Bytes& bytes, int level = 0);
/// Content for a stored-block gzip file of `quarters` x 256 KiB and six bytes, with a wrong checksum.
/// ByteStream takes 256 KiB at a time, so the checksum is cut and not looked at together with the content:
/// only the end of the file shows it.
struct LateDamage {
  Bytes content;
  Bytes packed;
};
LateDamage damage_behind_the_content(size_t quarters);

void write_file(const std::string& path, const Bytes& bytes);

}  // namespace lockstep::data

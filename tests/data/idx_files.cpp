#include "tests/data/idx_files.h"

#include <stdlib.h>
#include <zlib.h>

#include <fstream>
#include <stdexcept>

namespace lockstep::data {

namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib: the greatest window, with a gzip header and trailer
constexpr int kMemoryLevel = 8;       // zlib's default

Bytes big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = std::filesystem::temp_directory_path() / "lockstep-data-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory " + pattern);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Bytes idx_bytes(uint32_t magic, const std::vector<uint32_t>& extents, const Bytes& values) {
  Bytes bytes = big_endian(magic);
  for (const uint32_t extent : extents) bytes += big_endian(extent);
  return bytes + values;
}

Bytes image_file(uint32_t count) {
  Bytes values;
  for (uint32_t image = 0; image < count; ++image) {
    for (uint32_t i = 0; i < 12; ++i) values += static_cast<char>(10 * image + i);
  }
  return idx_bytes(0x803, {count, 3, 4}, values);
}

Bytes label_file(uint32_t count) {
  Bytes values;
  for (uint32_t image = 0; image < count; ++image) values += static_cast<char>(image % 10);
  return idx_bytes(0x801, {count}, values);
}

Bytes gzip(const Bytes& bytes, int level) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY);
  Bytes result(deflateBound(&stream, bytes.size()), '\0');
  Bytes input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<unsigned>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<unsigned>(result.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate failed");
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

LateDamage damage_behind_the_content(size_t quarters) {
  const size_t file_bytes = quarters * (256 << 10) + 6;
  LateDamage damage{Bytes(file_bytes - 18, 'x'), {}};
  do {
    damage.content.pop_back();
    damage.packed = gzip(damage.content);
  } while (damage.packed.size() > file_bytes);
  damage.packed[damage.packed.size() - 8] ^= 1;
  return damage;
}

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace lockstep::data

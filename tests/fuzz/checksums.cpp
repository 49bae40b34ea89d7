#include "tests/fuzz/checksums.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace lockstep::fuzz {
namespace {

constexpr size_t kLongestContent = size_t{64} << 10;

const Bytef* bytes_of(const Bytes& text, size_t offset = 0) {
  return reinterpret_cast<const Bytef*>(text.data()) + offset;
}

}  // namespace

Bytes with_gzip_trailer(Bytes file) {
  constexpr size_t kTrailerBytes = 8;
  constexpr int kGzipWindow = 15 + 16;
  if (file.size() < kTrailerBytes) return file;
  Bytes content(kLongestContent, '\0');
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(bytes_of(file));
  stream.avail_in = static_cast<unsigned>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<unsigned>(content.size());
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return file;
  inflate(&stream, Z_SYNC_FLUSH);
  content.resize(stream.total_out);
  inflateEnd(&stream);
  const auto checksum = crc32(0, bytes_of(content), static_cast<unsigned>(content.size()));
  return file.replace(file.size() - kTrailerBytes, kTrailerBytes,
                      little_endian(checksum, 4) + little_endian(content.size(), 4));
}

Bytes with_png_checksums(Bytes file) {
  constexpr size_t kSignatureBytes = 8;
  constexpr size_t kChunkBytes = 12;  // length, name and checksum
  for (size_t chunk = kSignatureBytes; chunk + kChunkBytes <= file.size();) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(file[chunk + i]);
    if (length > file.size() - chunk - kChunkBytes) break;
    const auto checksum = crc32(0, bytes_of(file, chunk + 4), static_cast<unsigned>(4 + length));
    file.replace(chunk + 8 + length, 4, big_endian(checksum, 4));
    chunk += kChunkBytes + length;
  }
  return file;
}

Bytes with_tar_checksums(Bytes file) {
  constexpr size_t kBlock = 512;
  constexpr size_t kSizeOffset = 124;
  constexpr size_t kChecksumOffset = 148;
  constexpr size_t kChecksumBytes = 8;
  for (size_t header = 0; header + kBlock <= file.size() && file[header] != '\0';) {
    const auto place = file.begin() + static_cast<ptrdiff_t>(header);
    std::fill_n(place + kChecksumOffset, kChecksumBytes, ' ');
    unsigned sum = 0;
    for (size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(file[header + i]);
    char digits[kChecksumBytes];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    std::copy_n(digits, sizeof digits - 1, place + kChecksumOffset);
    const size_t size = std::strtoull(file.substr(header + kSizeOffset, 12).c_str(), nullptr, 8);
    if (size > file.size()) break;
    header += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
  return file;
}

}  // namespace lockstep::fuzz

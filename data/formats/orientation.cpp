#include "data/formats/orientation.h"

#include <algorithm>
#include <array>
#include <optional>

namespace lockstep::data {
namespace {

constexpr size_t kTiffStart = 6;  // behind "Exif\0\0"
constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShort = 3;
constexpr size_t kEntryBytes = 12;

/// Rows and columns of the tag's values 1 to 8.
constexpr std::array<Orientation, 8> kOrientations{{
    {false, false, false},
    {false, false, true},
    {false, true, true},
    {false, true, false},
    {true, false, false},
    {true, true, false},
    {true, true, true},
    {true, false, true},
}};

/// TIFF data in the byte order that it names. Nothing is read beyond its end.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes), little_endian_(at(0) == 'I') {}

  std::optional<uint32_t> number(size_t position, size_t size) const {
    if (position > bytes_.size() || bytes_.size() - position < size) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      value = value << 8 | at(position + (little_endian_ ? size - 1 - i : i));
    }
    return value;
  }

 private:
  uint32_t at(size_t position) const {
    return position < bytes_.size() ? std::to_integer<uint32_t>(bytes_[position]) : 0;
  }

  std::span<const std::byte> bytes_;
  bool little_endian_;
};

bool is_exif(std::span<const std::byte> segment) {
  constexpr std::array<unsigned char, kTiffStart> kName{'E', 'x', 'i', 'f', 0, 0};
  return segment.size() > kTiffStart &&
         std::equal(kName.begin(), kName.end(), segment.begin(),
                    [](unsigned char left, std::byte right) { return std::byte{left} == right; });
}

/// A whole extent counted from its other end.
int64_t mirrored(int64_t begin, int64_t length, int64_t extent) {
  return extent - begin - length;
}

}  // namespace

Orientation read_orientation(std::span<const std::byte> segment) {
  if (!is_exif(segment)) return {};
  const Tiff tiff(segment.subspan(kTiffStart));
  const size_t directory = tiff.number(4, 4).value_or(0);
  const uint32_t entries = tiff.number(directory, 2).value_or(0);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.number(entry, 2) != kOrientationTag) continue;
    const uint32_t value = tiff.number(entry + 8, 2).value_or(0);
    const bool known = tiff.number(entry + 2, 2) == kShort && value >= 1 && value <= kOrientations.size();
    return known ? kOrientations[value - 1] : Orientation{};
  }
  return {};
}

Box to_stored(const Orientation& orientation, const Box& box, int64_t height, int64_t width) {
  Box stored = box;
  if (orientation.transpose) stored = {box.left, box.top, box.width, box.height};
  if (orientation.flip_rows) stored.top = mirrored(stored.top, stored.height, height);
  if (orientation.flip_columns) stored.left = mirrored(stored.left, stored.width, width);
  return stored;
}

void turn_upright(const Orientation& orientation, int64_t channels, int64_t size, const uint8_t* stored,
                  uint8_t* upright) {
  const int64_t first_row = orientation.flip_rows ? size - 1 : 0;
  const int64_t first_column = orientation.flip_columns ? size - 1 : 0;
  const int64_t row_step = orientation.flip_rows ? -size : size;
  const int64_t column_step = orientation.flip_columns ? -1 : 1;
  const int64_t step_down = orientation.transpose ? column_step : row_step;
  const int64_t step_right = orientation.transpose ? row_step : column_step;
  const int64_t start = first_row * size + first_column;
  for (int64_t channel = 0; channel < channels; ++channel, stored += size * size) {
    for (int64_t y = 0; y < size; ++y) {
      for (int64_t x = 0; x < size; ++x) *upright++ = stored[start + y * step_down + x * step_right];
    }
  }
}

}  // namespace lockstep::data

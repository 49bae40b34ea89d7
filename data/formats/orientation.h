// How a camera was held: what turns the stored picture upright. Exif 2.32, section 4.6.4, tag 0x0112; TIFF
// 6.0, section 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/framing.h"

namespace lockstep::data {

/// Upright pixel (y, x) is stored pixel (a, b) where (a, b) = transpose ? (x, y) : (y, x), a counted from the
/// last row if flip_rows, b from the last column if flip_columns.
struct Orientation {
  bool transpose = false;
  bool flip_rows = false;
  bool flip_columns = false;
  bool operator==(const Orientation&) const = default;
};

/// From the content of a JPEG's APP1 segment. Upright when it is no Exif data, or damaged, or has no
/// orientation: a wrong note is no reason to refuse a picture.
Orientation read_orientation(std::span<const std::byte> segment);

/// Where the upright picture's `box` lies in the stored picture of `height` x `width` pixels.
Box to_stored(const Orientation& orientation, const Box& box, int64_t height, int64_t width);

/// Turns planes [channels, size, size] upright.
void turn_upright(const Orientation& orientation, int64_t channels, int64_t size, const uint8_t* stored,
                  uint8_t* upright);

}  // namespace lockstep::data

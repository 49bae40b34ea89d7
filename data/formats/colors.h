// From the colours of picture files to grey and RGB.
#pragma once

#include <cstdint>

namespace lockstep::data {

/// ITU-R BT.601 luma, rounded.
inline uint8_t luma(uint32_t red, uint32_t green, uint32_t blue) {
  return static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

/// a * b / 255, rounded.
inline uint8_t product(uint32_t a, uint32_t b) {
  return static_cast<uint8_t>((a * b + 127) / 255);
}

}  // namespace lockstep::data

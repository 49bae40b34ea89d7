// Compressed pictures become samples: decoded, cut, scaled to a square and turned upright.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "data/framing.h"

namespace lockstep::data {

/// A picture with more pixels is refused before memory is allocated for it; one with as many takes 1 GiB.
inline constexpr int64_t kMostPixels = int64_t{1} << 27;

/// What a picture becomes: u8 [channels, size, size].
struct PictureShape {
  int64_t channels = 3;  ///< 1 or 3; grey is ITU-R BT.601 luma
  int64_t size = 224;
};

/// Writes the part of a JPEG or PNG picture that `framing` chooses on the upright picture. Which of the two
/// it is, its content says. Throws BadSample saying `name`, expected and found when it is neither, damaged or
/// too large. Keeps scratch memory for each thread.
void decode_picture(std::span<const std::byte> file, const std::string& name, const Framing& framing,
                    const PictureShape& shape, uint8_t* output);

}  // namespace lockstep::data

// Changes of brightness, contrast, saturation and hue, as PyTorch's torchvision defines them
// (torchvision.transforms.v2.functional, adjust_*), in this order.
#pragma once

#include <cstdint>

namespace lockstep::data {

/// The default changes nothing.
struct ColorChange {
  float brightness = 1;  ///< times the colour
  float contrast = 1;    ///< 0: the mean grey of the image, 1: as it is, more: away from it
  float saturation = 1;  ///< 0: the pixel's grey, 1: as it is, more: away from it
  float hue = 0;         ///< turns by so much of the colour circle, -0.5 to 0.5
  bool operator==(const ColorChange&) const = default;
};

/// Changes planes [channels, pixels] with values of 0 to 1, which the results are clamped to. One channel is
/// grey and has neither saturation nor hue, three are RGB. The mean is summed in double, in the order of the
/// pixels.
void change_colors(const ColorChange& change, int64_t channels, int64_t pixels, float* image);

}  // namespace lockstep::data

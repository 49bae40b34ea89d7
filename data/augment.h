// What happens to an image between source and model: random crop and flip, random colours, then conversion to
// normalised f32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/color_jitter.h"
#include "data/source.h"

namespace lockstep::data {

/// The default only converts, which is what evaluation wants (with mean and std as in training).
struct AugmentOptions {
  uint64_t seed = 0;
  /// Pads every side by this many zero pixels and crops a random window of the image's size; less than either
  /// extent.
  int64_t crop_padding = 0;
  /// Mirrors left and right with probability 1/2.
  bool flip = false;
  /// Colour jitter, for values of 0 to 1 (u8: / 255): a factor from max(0, 1 - x) to 1 + x for each of the
  /// first three, a turn of -x to x of the colour circle for hue, x <= 0.5. Brightness and contrast are for
  /// 1 or 3 channels, saturation and hue for 3.
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
  /// For sources that cut their images out of larger ones.
  FramingOptions framing = {};
  /// Per channel, for channel values scaled to [0, 1] when the source is u8: result = (value - mean) / std.
  /// Empty: mean 0, std 1.
  std::vector<double> mean = {};
  std::vector<double> std = {};
};

/// One sample's random decisions. Output pixel (y, x) comes from input pixel (y + top, x + left), zero
/// outside; then the flip; then the colours.
struct AugmentDraw {
  int64_t top = 0;
  int64_t left = 0;
  bool flip = false;
  ColorChange color = {};
  bool operator==(const AugmentDraw&) const = default;
};

/// A pure function of (options, epoch, sample); a switched-off option does not change what the others draw.
AugmentDraw draw_augment(const AugmentOptions& options, int64_t epoch, int64_t sample);

/// Keeps scratch memory: one object per thread.
class Augmenter {
 public:
  /// Throws InvalidArgument when the options do not fit images of this kind.
  Augmenter(AugmentOptions options, const SampleSpec& spec);

  /// Reads an image as its source gives it, writes f32 [channels, height, width].
  void apply(const std::byte* image, int64_t epoch, int64_t sample, float* output);

 private:
  /// value * scale + offset normalises a channel value as stored, value * unit_scale + offset one that the
  /// jitter has seen.
  struct ChannelMap {
    float scale;
    float unit_scale;
    float offset;
  };

  template <class T>
  void convert(const T* image, const AugmentDraw& draw, float* output);
  template <class T>
  void change_and_normalise(const T* image, const ColorChange& change, float* output) const;
  template <class T>
  void move_pixels(const T* image, const AugmentDraw& draw, T* output) const;

  AugmentOptions options_;
  int64_t height_;
  int64_t width_;
  DType dtype_;
  std::vector<ChannelMap> channels_;
  std::vector<std::byte> scratch_;
};

}  // namespace lockstep::data

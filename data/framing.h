// Which part of an image becomes a sample, for sources whose images have different sizes: a random part of
// random shape in training (Szegedy et al. 2015, "Going Deeper with Convolutions", section 6), the middle
// otherwise.
#pragma once

#include <cstdint>

namespace lockstep::data {

struct FramingOptions {
  /// Random parts in training. Off: the middle, as in evaluation.
  bool random = false;
  /// Of a random part: its area relative to the image's, and its width / height, drawn on a logarithmic
  /// scale.
  double min_area = 0.08;
  double max_area = 1;
  double min_aspect = 3.0 / 4;
  double max_aspect = 4.0 / 3;
  /// Of the middle: its edge relative to the image's shorter one.
  double center = 0.875;
};

/// The options together with the random identity of one sample's drawing.
struct Framing {
  FramingOptions options = {};
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t sample = 0;
};

/// A part of an image, in pixels; not empty, wholly inside.
struct Box {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
  bool operator==(const Box&) const = default;
};

/// The part of an image of `height` x `width` pixels (both at least 1) that becomes the sample, a pure
/// function of the arguments. A random part that does not fit is drawn anew, ten times at most; then the
/// largest middle part whose aspect is allowed is taken. The middle is a square.
Box choose_box(const Framing& framing, int64_t height, int64_t width);

}  // namespace lockstep::data

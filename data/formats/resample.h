// Scales a part of a picture to a square.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::data {

/// Decoded pixels around a wanted part, [height, width, channels].
struct Pixels {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;  ///< 1 or 3
  std::vector<uint8_t> values = {};
  // The wanted part, in these pixels: it begins and ends within one where the picture was decoded at a
  // fraction of its size.
  double top = 0;
  double left = 0;
  double part_height = 0;
  double part_width = 0;

  const uint8_t* row(int64_t y) const { return values.data() + y * width * channels; }
  uint8_t* row(int64_t y) { return values.data() + y * width * channels; }
};

/// How one output pixel arises along one axis: sum of weights[first_weight + i] * input[first + i], i <
/// count.
struct Taps {
  int64_t first = 0;
  int64_t count = 0;
  int64_t first_weight = 0;
};

/// Scales by a triangle filter as wide as two input or two output pixels, whichever is more: bilinear
/// interpolation that does not alias when it shrinks. Edges are as if there were no pixels beyond the given
/// ones. Sums in fp32 and in a fixed order, rounded once at the end. Keeps scratch memory: one object per
/// thread.
class Resampler {
 public:
  /// Writes the wanted part as [channels, size, size].
  void resample(const Pixels& pixels, int64_t size, uint8_t* output);

 private:
  struct Axis {
    std::vector<Taps> taps;  ///< of each output pixel
    std::vector<float> weights;
  };
  static void plan(double start, double length, int64_t extent, int64_t size, Axis& axis);
  void mix_rows(const Pixels& pixels, const Taps& taps);
  template <int kChannels>
  void mix_columns(int64_t size, int64_t row, uint8_t* output) const;

  Axis down_;
  Axis across_;
  std::vector<float> row_;  ///< one output row before it is scaled across, [width, channels]
};

}  // namespace lockstep::data

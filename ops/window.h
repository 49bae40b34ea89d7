// Sliding windows over rows and columns, as convolution and pooling use them.
#pragma once

#include <cstdint>

namespace lockstep::ops {

struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;  ///< on both sides
  int64_t dilation = 1;

  int64_t span() const { return dilation * (kernel - 1) + 1; }
  bool fits(int64_t extent) const { return extent + 2 * padding >= span(); }
  /// How many places the window has along an extent that it fits.
  int64_t positions(int64_t extent) const { return (extent + 2 * padding - span()) / stride + 1; }
  /// The smallest extent along which the window has so many places; 0 or less where there is none.
  int64_t extent(int64_t positions) const { return (positions - 1) * stride + span() - 2 * padding; }
};

}  // namespace lockstep::ops

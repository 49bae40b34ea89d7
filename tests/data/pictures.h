// JPEG and PNG files for tests, made by the libraries' own encoders.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/data/idx_files.h"

namespace lockstep::data {

/// Plain pixels, [height, width, channels].
struct Raster {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  std::vector<uint8_t> values = {};

  uint8_t at(int64_t y, int64_t x, int64_t channel) const {
    return values[static_cast<size_t>((y * width + x) * channels + channel)];
  }
};

/// value(y, x, channel) everywhere.
Raster make_raster(int64_t height, int64_t width, int64_t channels,
                   const std::function<int(int64_t, int64_t, int64_t)>& value);
/// Smooth enough for JPEG, different everywhere.
Raster landscape(int64_t height, int64_t width, int64_t channels);
Raster solid(int64_t height, int64_t width, const std::vector<uint8_t>& color);

struct JpegOptions {
  int quality = 95;
  bool progressive = false;
  /// Chroma is stored at 1 / this of the size.
  int chroma_reduction = 1;
  int restart_interval = 0;
  /// Of four channels: CMYK as it is, or turned to YCCK.
  bool ycck = false;
  bool adobe_marker = true;
  /// 3 channels stored as RGB, without conversion.
  bool keep_rgb = false;
  Bytes app1 = {};  ///< content of an APP1 segment
};

/// 1 channel: grey, 3: YCbCr, 4: CMYK.
Bytes encode_jpeg(const Raster& raster, const JpegOptions& options = {});
/// What libjpeg makes of the whole file, as grey or RGB.
Raster decode_whole_jpeg(const Bytes& file, int channels, int reduction = 1);
/// An Exif segment that says so.
Bytes exif_orientation(int value, bool little_endian = true);

struct PngOptions {
  int bits = 8;
  bool interlaced = false;
  std::vector<uint8_t> palette = {};        ///< RGB triples; the raster has indices then
  std::vector<uint8_t> palette_alpha = {};  ///< of the first entries
};

/// 1 to 4 channels: grey, grey and alpha, RGB, RGBA. Values below 8 bits are one a byte, of 16 bits two
/// channels each, high byte first.
Bytes encode_png(const Raster& raster, const PngOptions& options = {});

}  // namespace lockstep::data

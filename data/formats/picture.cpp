#include "data/formats/picture.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "data/formats/file.h"
#include "data/formats/jpeg_reader.h"
#include "data/formats/png_reader.h"
#include "data/formats/resample.h"
#include "data/source.h"

namespace lockstep::data {
namespace {

/// Memory that the next picture needs again.
struct Scratch {
  Pixels pixels;
  Resampler resampler;
  std::vector<uint8_t> turned;
};

template <size_t kCount>
bool begins_with(std::span<const std::byte> file, const std::array<unsigned char, kCount>& start) {
  return file.size() >= kCount && std::memcmp(file.data(), start.data(), kCount) == 0;
}

void check_extent(int64_t height, int64_t width, const std::string& name) {
  check<BadSample>(height > 0 && width > 0 && height <= kMostPixels / width, "picture", name, ": ", width,
                   " x ", height, " pixels: expected 1 to ", kMostPixels, " altogether");
}

template <class Reader>
void decode(Reader reader, const std::string& name, const Framing& framing, const PictureShape& shape,
            uint8_t* output) {
  thread_local Scratch scratch;
  const auto [channels, size] = shape;
  const int64_t height = reader.height();
  const int64_t width = reader.width();
  check_extent(height, width, name);
  const Orientation orientation = reader.orientation();
  const Box box =
      orientation.transpose ? choose_box(framing, width, height) : choose_box(framing, height, width);
  Pixels& pixels = scratch.pixels;
  reader.read(to_stored(orientation, box, height, width), size, channels, pixels);

  const int64_t plane = size * size;
  if (orientation == Orientation{}) {
    scratch.resampler.resample(pixels, size, output);
  } else {
    scratch.turned.resize(static_cast<size_t>(pixels.channels * plane));
    scratch.resampler.resample(pixels, size, scratch.turned.data());
    turn_upright(orientation, pixels.channels, size, scratch.turned.data(), output);
  }
  for (int64_t channel = pixels.channels; channel < channels; ++channel) {
    std::copy_n(output, plane, output + channel * plane);
  }
}

}  // namespace

void decode_picture(std::span<const std::byte> file, const std::string& name, const Framing& framing,
                    const PictureShape& shape, uint8_t* output) {
  constexpr std::array<unsigned char, 3> kJpeg{0xff, 0xd8, 0xff};
  constexpr std::array<unsigned char, 8> kPng{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::array<unsigned char, 2> kGzip{0x1f, 0x8b};
  check<BadSample>(!file.empty(), "picture", name, ": expected a JPEG or PNG picture, found an empty file");
  check<BadSample>(!begins_with(file, kGzip), "picture", name,
                   ": expected a JPEG or PNG picture, found gzip data; unpack it");
  if (begins_with(file, kJpeg)) return decode(JpegReader(file, name), name, framing, shape, output);
  if (begins_with(file, kPng)) return decode(PngReader(file, name), name, framing, shape, output);
  throw BadSample(to_text("[picture] ", name, ": expected a JPEG or PNG picture, found ", file.size(),
                          " bytes that begin with ", show_start(file)));
}

}  // namespace lockstep::data

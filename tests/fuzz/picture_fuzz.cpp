// JPEG with Exif, and PNG.
#include "data/formats/picture.h"

#include <algorithm>

#include "tests/data/pictures.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

using data::landscape;

/// How the picture is wanted depends on its length.
void parse(const Bytes& input) {
  const data::PictureShape shape{.channels = input.size() % 2 == 0 ? 3 : 1,
                                 .size = input.size() % 3 == 0 ? 31 : 8};
  data::Framing framing;
  framing.options.random = input.size() % 5 != 0;
  framing.sample = static_cast<int64_t>(input.size());
  const auto bytes = std::as_bytes(std::span(input));
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());  // no byte can be read behind it unnoticed
  std::vector<uint8_t> output(static_cast<size_t>(shape.channels * shape.size * shape.size));
  data::decode_picture(exact, "picture", framing, shape, output.data());
}

void add_jpegs(std::vector<Bytes>& inputs) {
  using data::encode_jpeg;
  inputs.push_back(encode_jpeg(landscape(20, 30, 1)));
  inputs.push_back(encode_jpeg(landscape(100, 80, 3), {.quality = 50, .chroma_reduction = 2}));
  inputs.push_back(encode_jpeg(landscape(41, 37, 3), {.progressive = true, .chroma_reduction = 2}));
  inputs.push_back(encode_jpeg(landscape(17, 23, 3), {.restart_interval = 1, .keep_rgb = true}));
  inputs.push_back(encode_jpeg(landscape(16, 16, 4), {.ycck = true}));
  inputs.push_back(encode_jpeg(landscape(16, 16, 4), {.adobe_marker = false}));
  for (const bool little_endian : {false, true}) {
    for (const int orientation : {2, 5, 8}) {
      inputs.push_back(
          encode_jpeg(landscape(9, 13, 3), {.app1 = data::exif_orientation(orientation, little_endian)}));
    }
  }
}

void add_pngs(std::vector<Bytes>& inputs) {
  using data::encode_png;
  for (const bool interlaced : {false, true}) {
    for (const int64_t channels : {1, 2, 3, 4})
      inputs.push_back(encode_png(landscape(9, 14, channels), {.interlaced = interlaced}));
    inputs.push_back(encode_png(landscape(9, 14, 6), {.bits = 16, .interlaced = interlaced}));
    const auto bit = [](int64_t y, int64_t x, int64_t) { return static_cast<int>((y + x) % 2); };
    inputs.push_back(encode_png(data::make_raster(9, 14, 1, bit), {.bits = 1, .interlaced = interlaced}));
    inputs.push_back(encode_png(
        data::make_raster(9, 14, 1, bit),
        {.bits = 4, .interlaced = interlaced, .palette = {1, 2, 3, 250, 251, 252}, .palette_alpha = {100}}));
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> inputs;
  add_jpegs(inputs);
  add_pngs(inputs);
  return inputs;
}

Bytes repair(const Bytes& input) {
  return input.starts_with("\x89PNG") ? with_png_checksums(input) : input;
}

}  // namespace

const Target kTarget{.parse = parse, .seeds = seeds, .repair = repair};

}  // namespace lockstep::fuzz

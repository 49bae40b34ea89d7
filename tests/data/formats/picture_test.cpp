#include "data/formats/picture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "data/source.h"
#include "runtime/rng.h"
#include "tests/data/error_of.h"
#include "tests/data/pictures.h"

namespace lockstep::data {
namespace {

/// All of a square picture.
constexpr Framing kAll{.options = {.center = 1}};

std::vector<uint8_t> decoded(const Bytes& file, const PictureShape& shape, const Framing& framing = kAll) {
  std::vector<uint8_t> output(static_cast<size_t>(shape.channels * shape.size * shape.size));
  decode_picture(std::as_bytes(std::span(file)), "n01440764/a.JPEG", framing, shape, output.data());
  return output;
}

double mean_of(const std::vector<uint8_t>& planes, int64_t channel) {
  const size_t plane = planes.size() / 3;
  const auto first = planes.begin() + channel * static_cast<int64_t>(plane);
  return std::accumulate(first, first + static_cast<int64_t>(plane), 0.0) / static_cast<double>(plane);
}

struct Kind {
  const char* name;
  Bytes file;
  std::array<int, 3> color;
};

const Raster kRed = solid(8, 8, {255, 0, 0});
constexpr std::array kRedColor{255, 0, 0};

std::vector<Kind> red_squares() {
  const Raster ink = solid(8, 8, {0, 255, 255, 0});
  const Raster inverted = solid(8, 8, {255, 0, 0, 255});
  return {{"Rgb", encode_jpeg(kRed), kRedColor},
          {"RgbWithoutConversion", encode_jpeg(kRed, {.keep_rgb = true}), kRedColor},
          {"Progressive", encode_jpeg(kRed, {.progressive = true}), kRedColor},
          {"HalfChroma", encode_jpeg(kRed, {.chroma_reduction = 2}), kRedColor},
          {"Grey", encode_jpeg(solid(8, 8, {76})), {76, 76, 76}},
          {"Cmyk", encode_jpeg(ink, {.adobe_marker = false}), kRedColor},
          {"AdobeCmyk", encode_jpeg(inverted), kRedColor},
          {"AdobeYcck", encode_jpeg(inverted, {.ycck = true}), kRedColor},
          {"Png", encode_png(kRed), kRedColor},
          {"PngPalette", encode_png(solid(8, 8, {1}), {.palette = {0, 0, 0, 255, 0, 0}}), kRedColor},
          {"PngRgba", encode_png(solid(8, 8, {255, 0, 0, 255})), kRedColor},
          {"PngHalfTransparent", encode_png(solid(8, 8, {255, 0, 0, 128})), {128, 0, 0}},
          {"PngSixteenBits", encode_png(solid(8, 8, {255, 255, 0, 0, 0, 0}), {.bits = 16}), kRedColor}};
}

TEST(Picture, RedIsRedHoweverItIsStored) {
  for (const auto& [name, file, color] : red_squares()) {
    for (const int64_t size : {8, 5, 20}) {
      const std::vector<uint8_t> planes = decoded(file, {3, size});
      for (int64_t channel = 0; channel < 3; ++channel) {
        EXPECT_NEAR(mean_of(planes, channel), color[channel], 3) << name << " at " << size;
      }
      const double grey = 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2];
      EXPECT_NEAR(decoded(file, {1, size})[0], grey, 2) << name << " at " << size;
    }
  }
}

TEST(Picture, APictureOfItsSizeIsUntouched) {
  const Raster grey = landscape(28, 28, 1);
  EXPECT_EQ(decoded(encode_png(grey), {1, 28}), grey.values);
  std::vector<uint8_t> thrice = grey.values;
  for (int copy = 0; copy < 2; ++copy) thrice.insert(thrice.end(), grey.values.begin(), grey.values.end());
  EXPECT_EQ(decoded(encode_png(grey), {3, 28}), thrice);
}

/// Four quarters: white and red above, green and blue below.
Raster four_corners(int64_t height, int64_t width) {
  return make_raster(height, width, 3, [&](int64_t y, int64_t x, int64_t channel) {
    const bool below = 2 * y >= height;
    const bool right = 2 * x >= width;
    const std::array<int, 3> color = below ? (right ? std::array{0, 0, 255} : std::array{0, 255, 0})
                                           : (right ? std::array{255, 0, 0} : std::array{255, 255, 255});
    return color[channel];
  });
}

/// The corners from the left above to the right below as letters.
std::string corners_of(const std::vector<uint8_t>& planes, int64_t size) {
  std::string letters;
  for (const int64_t place : {int64_t{0}, size - 1, size * (size - 1), size * size - 1}) {
    const bool red = planes[place] > 127;
    const bool green = planes[size * size + place] > 127;
    letters += red && green ? 'w' : red ? 'r' : green ? 'g' : 'b';
  }
  return letters;
}

TEST(Picture, IsTurnedUpright) {
  constexpr std::array kExpected{"wrgb", "rwbg", "bgrw", "gbwr", "wgrb", "gwbr", "brgw", "rbwg"};
  for (int tag = 1; tag <= 8; ++tag) {
    const Bytes file = encode_jpeg(four_corners(32, 48), {.app1 = exif_orientation(tag, tag % 2 == 0)});
    EXPECT_EQ(corners_of(decoded(file, {3, 16}), 16), kExpected[tag - 1]) << tag;
  }
}

// Stored lying, 48 wide; the middle square of the upright picture of 48 x 32 has all four corners, and so has
// the stored one. A random part must be taken of the upright picture, as if it had been stored like that.
TEST(Picture, ThePartIsChosenOnTheUprightPicture) {
  const Raster upright = landscape(48, 32, 3);
  const Raster lying = make_raster(
      32, 48, 3, [&](int64_t y, int64_t x, int64_t channel) { return upright.at(x, 31 - y, channel); });
  const Bytes plain = encode_jpeg(upright, {.quality = 100});
  const Bytes turned = encode_jpeg(lying, {.quality = 100, .app1 = exif_orientation(6)});
  for (int64_t sample = 0; sample < 20; ++sample) {
    const Framing framing{{.random = true, .min_area = 0.2}, 1, 0, sample};
    const std::vector<uint8_t> expected = decoded(plain, {3, 12}, framing);
    const std::vector<uint8_t> found = decoded(turned, {3, 12}, framing);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 6) << sample;
  }
}

TEST(Picture, TheMiddleOfAWidePictureIsASquare) {
  const Raster wide =
      make_raster(20, 60, 1, [](int64_t, int64_t x, int64_t) { return x >= 20 && x < 40 ? 200 : 10; });
  EXPECT_EQ(decoded(encode_png(wide), {1, 20}), std::vector<uint8_t>(400, 200));
}

TEST(Picture, ScratchMemoryOfALargePictureDoesNotShowInASmallOne) {
  const std::vector<uint8_t> fresh = decoded(encode_png(landscape(9, 9, 1)), {3, 7});
  decoded(encode_jpeg(landscape(90, 120, 3)), {3, 64});
  EXPECT_EQ(decoded(encode_png(landscape(9, 9, 1)), {3, 7}), fresh);
}

TEST(Picture, WhatIsNoPictureIsNamed) {
  struct Row {
    Bytes file;
    const char* found;
  };
  const Bytes jpeg = encode_jpeg(landscape(50, 60, 3));
  const std::vector<Row> rows{{"", "found an empty file"},
                              {gzip(jpeg), "found gzip data; unpack it"},
                              {"not a picture", "13 bytes that begin with \"not a picture\""},
                              {"GIF89a\x01", "7 bytes that begin with \"GIF89a.\""},
                              {"\xff", "1 bytes that begin with \".\""},
                              {jpeg.substr(0, jpeg.size() / 2), "cut short"},
                              {encode_png(landscape(50, 60, 3)).substr(0, 100), "cut short"}};
  for (const auto& [file, found] : rows) {
    const std::string text = error_of<BadSample>([&] { decoded(file, {3, 8}); });
    expect_contains(text, "[picture] n01440764/a.JPEG: ");
    expect_contains(text, found);
  }
}

// The header of a small file promises more than memory holds.
TEST(Picture, AnEnormousPictureIsRefusedBeforeItIsDecoded) {
  Bytes file = encode_jpeg(landscape(8, 8, 3));
  file.replace(file.find("\xff\xc0") + 5, 4, "\xff\xdc\xff\xdc");
  expect_contains(error_of<BadSample>([&] {
                    decoded(file, {3, 8});
                  }),
                  "65500 x 65500 pixels: expected 1 to 134217728 altogether");
}

// Nothing but BadSample comes out of damaged files, and no byte beside the memory that is theirs is touched.
TEST(Picture, AnyDamageIsABadSampleOrAPicture) {
  const RandomStream random(1, Purpose::kTest, 0, 0);
  const Raster raster = landscape(20, 30, 3);
  uint64_t position = 0;
  int refused = 0;
  for (const Bytes& good :
       {encode_jpeg(raster, {.chroma_reduction = 2}), encode_jpeg(raster, {.progressive = true}),
        encode_jpeg(raster, {.app1 = exif_orientation(5)}), encode_png(raster),
        encode_png(raster, {.interlaced = true})}) {
    for (int trial = 0; trial < 400; ++trial) {
      Bytes file = good;
      for (int change = 0; change < 3; ++change, position += 2) {
        const uint32_t place = random.below(position, static_cast<uint32_t>(file.size()));
        file[place] = static_cast<char>(random.below(position + 1, 256));
      }
      try {
        decoded(file, {3, 8}, {{.random = true}, 1, 0, trial});
      } catch (const BadSample&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 400);
}

}  // namespace
}  // namespace lockstep::data

#include "data/formats/png_reader.h"

#include <gtest/gtest.h>

#include "data/source.h"
#include "tests/data/error_of.h"
#include "tests/data/pictures.h"

namespace lockstep::data {
namespace {

Pixels read(const Bytes& file, const Box& box, int64_t channels) {
  Pixels pixels;
  PngReader(std::as_bytes(std::span(file)), "a.png").read(box, 1, channels, pixels);
  return pixels;
}

using Values = std::vector<uint8_t>;

TEST(PngReader, KnowsTheExtent) {
  const Bytes file = encode_png(landscape(5, 7, 3));
  const PngReader reader(std::as_bytes(std::span(file)), "a.png");
  EXPECT_EQ(reader.height(), 5);
  EXPECT_EQ(reader.width(), 7);
}

TEST(PngReader, APartIsWhatTheWholeHasThere) {
  const Raster raster = landscape(20, 30, 3);
  for (const bool interlaced : {false, true}) {
    const Pixels pixels = read(encode_png(raster, {.interlaced = interlaced}), {3, 11, 9, 17}, 3);
    ASSERT_EQ(pixels.height, 9);
    ASSERT_EQ(pixels.width, 17);
    EXPECT_EQ(pixels.part_height, 9);
    EXPECT_EQ(pixels.part_width, 17);
    for (int64_t i = 0; i < 9 * 17 * 3; ++i) {
      ASSERT_EQ(pixels.values[i], raster.at(3 + i / 51, 11 + i % 51 / 3, i % 3)) << interlaced;
    }
  }
}

TEST(PngReader, GreyOfEveryDepthFillsTheRange) {
  struct Row {
    int bits;
    Values stored;
    Values expected;
  };
  const std::vector<Row> rows{{1, {0, 1, 1, 0}, {0, 255, 255, 0}},
                              {2, {0, 1, 2, 3}, {0, 85, 170, 255}},
                              {4, {0, 1, 7, 15}, {0, 17, 119, 255}},
                              {8, {0, 1, 127, 255}, {0, 1, 127, 255}}};
  for (const auto& [bits, stored, expected] : rows) {
    for (const bool interlaced : {false, true}) {
      const Bytes file = encode_png({1, 4, 1, stored}, {.bits = bits, .interlaced = interlaced});
      const Pixels pixels = read(file, {0, 0, 1, 4}, 3);
      EXPECT_EQ(pixels.channels, 1);
      EXPECT_EQ(pixels.values, expected) << bits;
    }
  }
}

TEST(PngReader, SixteenBitsAreRoundedNotCut) {
  // 0, 128, 129, 256, 32768, 65407, 65535: value * 255 / 65535 is 0, 0.498, 0.502, 0.996, 127.502, 254.502,
  // 255.
  const Values stored{0, 0, 0, 128, 0, 129, 1, 0, 128, 0, 255, 127, 255, 255};
  const Pixels pixels = read(encode_png({1, 7, 2, stored}, {.bits = 16}), {0, 0, 1, 7}, 1);
  EXPECT_EQ(pixels.values, (Values{0, 0, 1, 1, 128, 255, 255}));
}

TEST(PngReader, ColoursBecomeLuma) {
  const Raster raster{1, 4, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9}};
  const Pixels pixels = read(encode_png(raster), {0, 0, 1, 4}, 1);
  EXPECT_EQ(pixels.channels, 1);
  EXPECT_EQ(pixels.values, (Values{76, 150, 29, 9}));
}

TEST(PngReader, APaletteIsLookedUp) {
  const Values palette{255, 0, 0, 0, 255, 0, 7, 8, 9};
  for (const int bits : {2, 8}) {
    const Bytes file = encode_png({1, 4, 1, {2, 1, 0, 2}}, {.bits = bits, .palette = palette});
    EXPECT_EQ(read(file, {0, 0, 1, 4}, 3).values, (Values{7, 8, 9, 0, 255, 0, 255, 0, 0, 7, 8, 9}));
  }
}

TEST(PngReader, TransparentPixelsAreOnBlack) {
  EXPECT_EQ(read(encode_png({1, 3, 4, {200, 100, 9, 255, 200, 100, 9, 128, 200, 100, 9, 0}}), {0, 0, 1, 3}, 3)
                .values,
            (Values{200, 100, 9, 100, 50, 5, 0, 0, 0}));
  EXPECT_EQ(read(encode_png({1, 2, 2, {200, 255, 200, 64}}), {0, 0, 1, 2}, 3).values, (Values{200, 50}));
  const PngOptions clear_red{.palette = {255, 0, 0, 0, 255, 0}, .palette_alpha = {0}};
  EXPECT_EQ(read(encode_png({1, 2, 1, {0, 1}}, clear_red), {0, 0, 1, 2}, 3).values,
            (Values{0, 0, 0, 0, 255, 0}));
  EXPECT_EQ(read(encode_png({1, 1, 4, {100, 100, 100, 128}}), {0, 0, 1, 1}, 1).values, (Values{50}));
}

std::string fault_of(const Bytes& file) {
  return error_of<BadSample>([&] { read(file, {0, 0, 1, 1}, 3); });
}

TEST(PngReader, WhatIsCutIsNamedWhereverItIsCut) {
  const Bytes file = encode_png(landscape(40, 50, 3));
  for (size_t size = 8; size < file.size(); size += 29) {
    expect_contains(fault_of(file.substr(0, size)),
                    "[picture] a.png: PNG of " + std::to_string(size) + " bytes: ");
  }
  expect_contains(fault_of(file.substr(0, file.size() / 2)), "cut short");
  expect_contains(fault_of(file.substr(0, file.size() / 2)), "no end chunk");
}

TEST(PngReader, MorePixelsThanTheFileCanHoldAreRefusedBeforeMemoryIsAllocated) {
  const auto bit = [](int64_t, int64_t, int64_t) { return 0; };
  const Bytes file = encode_png(make_raster(2000, 2000, 1, bit), {.bits = 1, .interlaced = true});
  EXPECT_EQ(read(file, {0, 0, 1, 1}, 1).values, (Values{0}));  // as many as compression allows, or nearly
  const Bytes small = encode_png(make_raster(8, 8, 1, bit), {.bits = 1, .interlaced = true});
  Bytes large = small.substr(0, 8) + file.substr(8, 25) + small.substr(33);  // with the other's header
  expect_contains(fault_of(large), "2000 x 2000 pixels are more than it can hold");
}

TEST(PngReader, ADamagedChunkIsNamed) {
  Bytes file = encode_png(landscape(40, 50, 3));
  file[file.find("IDAT") + 30] ^= 1;
  expect_contains(error_of<BadSample>([&] { read(file, {0, 0, 40, 50}, 3); }), "a.png");
  Bytes header = encode_png(landscape(40, 50, 3));
  header[header.find("IHDR") + 6] ^= 1;
  expect_contains(fault_of(header), "CRC");
}

}  // namespace
}  // namespace lockstep::data

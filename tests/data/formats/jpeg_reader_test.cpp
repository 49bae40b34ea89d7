#include "data/formats/jpeg_reader.h"

#include <gtest/gtest.h>

#include "data/source.h"
#include "runtime/rng.h"
#include "tests/data/error_of.h"
#include "tests/data/pictures.h"

namespace lockstep::data {
namespace {

Pixels read(const Bytes& file, const Box& box, int64_t size, int64_t channels) {
  Pixels pixels;
  JpegReader(std::as_bytes(std::span(file)), "a.jpg").read(box, size, channels, pixels);
  return pixels;
}

std::vector<JpegOptions> kinds() {
  return {{},
          {.chroma_reduction = 2},
          {.progressive = true},
          {.progressive = true, .chroma_reduction = 2},
          {.chroma_reduction = 2, .restart_interval = 3},
          {.keep_rgb = true}};
}

TEST(JpegReader, KnowsTheExtentAndTheOrientation) {
  const Bytes file = encode_jpeg(landscape(5, 7, 3), {.app1 = exif_orientation(6)});
  const JpegReader reader(std::as_bytes(std::span(file)), "a.jpg");
  EXPECT_EQ(reader.height(), 5);
  EXPECT_EQ(reader.width(), 7);
  EXPECT_EQ(reader.orientation(), (Orientation{true, true, false}));
}

/// `pixels` hold what libjpeg makes of the whole picture, as far as the box touches it.
void expect_part_of(const Raster& whole, const Box& box, int64_t reduction, const Pixels& pixels) {
  ASSERT_EQ(pixels.channels, whole.channels);
  const int64_t first_row = box.top / reduction;
  const int64_t first_column = box.left / reduction;
  ASSERT_EQ(pixels.height, (box.top + box.height + reduction - 1) / reduction - first_row);
  ASSERT_EQ(pixels.width, (box.left + box.width + reduction - 1) / reduction - first_column);
  EXPECT_EQ((static_cast<double>(first_row) + pixels.top) * static_cast<double>(reduction), box.top);
  EXPECT_EQ((static_cast<double>(first_column) + pixels.left) * static_cast<double>(reduction), box.left);
  EXPECT_EQ(pixels.part_height * static_cast<double>(reduction), box.height);
  EXPECT_EQ(pixels.part_width * static_cast<double>(reduction), box.width);
  for (int64_t y = 0; y < pixels.height; ++y) {
    for (int64_t i = 0; i < pixels.width * pixels.channels; ++i) {
      const int64_t x = i / pixels.channels;
      const int64_t channel = i % pixels.channels;
      ASSERT_EQ(pixels.row(y)[i], whole.at(first_row + y, first_column + x, channel)) << y << ", " << x;
    }
  }
}

// What a pixel is does not depend on which part it is decoded with.
TEST(JpegReader, APartIsWhatTheWholeHasThere) {
  const RandomStream random(1, Purpose::kTest, 0, 0);
  uint64_t position = 0;
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random.below(position++, static_cast<uint32_t>(bound)));
  };
  for (const JpegOptions& kind : kinds()) {
    for (const auto& [height, width] : {std::pair<int64_t, int64_t>{117, 150}, {9, 11}, {64, 3}}) {
      const Bytes file = encode_jpeg(landscape(height, width, 3), kind);
      for (const int channels : {1, 3}) {
        for (const int reduction : {1, 2, 4, 8}) {
          const Raster whole = decode_whole_jpeg(file, channels, reduction);
          for (int trial = 0; trial < 6; ++trial) {
            Box box{below(height), below(width)};
            box.height = 1 + below(height - box.top);
            box.width = 1 + below(width - box.left);
            const int64_t shorter = std::min(box.height, box.width);
            const int64_t size = std::max<int64_t>(1, shorter / reduction);
            if (shorter >= size * 2 * reduction || shorter < size * reduction) continue;  // another reduction
            expect_part_of(whole, box, reduction, read(file, box, size, channels));
          }
        }
      }
    }
  }
}

TEST(JpegReader, DecodesAtTheSmallestSizeThatIsNotTooSmall) {
  const Bytes file = encode_jpeg(landscape(64, 96, 3));
  const Box all{0, 0, 64, 96};
  EXPECT_EQ(read(file, all, 64, 3).height, 64);
  EXPECT_EQ(read(file, all, 33, 3).height, 64);
  EXPECT_EQ(read(file, all, 32, 3).height, 32);
  EXPECT_EQ(read(file, all, 16, 3).height, 16);
  EXPECT_EQ(read(file, all, 1, 3).height, 8);
  EXPECT_EQ(read(file, all, 500, 3).height, 64);
}

TEST(JpegReader, GreyStaysGrey) {
  const Raster grey = solid(8, 8, {77});
  for (const int64_t channels : {1, 3}) {
    const Pixels pixels = read(encode_jpeg(grey), {0, 0, 8, 8}, 8, channels);
    EXPECT_EQ(pixels.channels, 1);
    EXPECT_EQ(pixels.values, grey.values);
  }
}

// Ink covers: the light that is left is (255 - ink) * (255 - black) / 255, twice inverted by Adobe's rule.
TEST(JpegReader, InkBecomesLight) {
  for (const bool ycck : {false, true}) {
    for (const bool adobe : {false, true}) {
      const auto stored = [&](int ink) { return static_cast<uint8_t>(adobe ? 255 - ink : ink); };
      const Raster inks = solid(16, 16, {stored(0), stored(127), stored(255), stored(51)});
      const Bytes file = encode_jpeg(inks, {.quality = 100, .ycck = ycck, .adobe_marker = adobe});
      if (ycck && !adobe) continue;  // nothing in such a file says that it is YCCK
      const Pixels pixels = read(file, {0, 0, 16, 16}, 16, 3);
      ASSERT_EQ(pixels.channels, 3);
      EXPECT_NEAR(pixels.values[0], 204, 2);
      EXPECT_NEAR(pixels.values[1], 102, 2);
      EXPECT_NEAR(pixels.values[2], 0, 2);
      EXPECT_NEAR(read(file, {0, 0, 16, 16}, 16, 1).values[0], 0.299 * 204 + 0.587 * 102, 2);
    }
  }
}

std::string fault_of(const Bytes& file) {
  return error_of<BadSample>([&] { read(file, {0, 0, 48, 64}, 48, 3); });
}

TEST(JpegReader, WhatIsCutIsNamedWhereverItIsCut) {
  for (const bool progressive : {false, true}) {
    const Bytes file = encode_jpeg(landscape(48, 64, 3), {.progressive = progressive});
    for (size_t size = 3; size < file.size(); size += 37) {
      const std::string text = fault_of(file.substr(0, size));
      expect_contains(text, "[picture] a.jpg: JPEG of " + std::to_string(size) + " bytes: ");
    }
    expect_contains(fault_of(file.substr(0, file.size() / 2)), "cut short: no end marker");
    expect_contains(fault_of(file.substr(0, file.size() / 2) + "\xff\xd9"), "premature end of data segment");
  }
}

TEST(JpegReader, APartOfACutFileIsRefusedToo) {
  const Bytes file = encode_jpeg(landscape(48, 64, 3));
  const Bytes cut = file.substr(0, file.size() - 2);
  expect_contains(error_of<BadSample>([&] { read(cut, {0, 0, 1, 1}, 1, 3); }), "cut short");
}

/// With another size in its header.
Bytes resized(Bytes file, const char* frame_marker, int height, int width) {
  const Bytes size{static_cast<char>(height >> 8), static_cast<char>(height), static_cast<char>(width >> 8),
                   static_cast<char>(width)};
  return file.replace(file.find(frame_marker) + 5, size.size(), size);
}

TEST(JpegReader, MorePixelsThanTheFileCanHoldAreRefusedBeforeMemoryIsAllocated) {
  const Bytes file = encode_jpeg(landscape(48, 64, 3), {.progressive = true});
  const int limit = static_cast<int>(file.size() + 1);
  expect_contains(fault_of(resized(file, "\xff\xc2", 1024, limit)),
                  "x 1024 pixels are more than it can hold");
  expect_contains(fault_of(resized(file, "\xff\xc2", 1024, limit - 1)), "premature end of data segment");
  expect_contains(fault_of(resized(file, "\xff\xc2", 11000, 11000)), "11000 x 11000 pixels are more");
}

// One bit for each block, and it is a picture.
TEST(JpegReader, AsManyPixelsAsCompressionAllows) {
  const Bytes file = encode_jpeg(solid(2000, 2000, {128}), {.progressive = true});
  EXPECT_EQ(read(file, {0, 0, 2000, 2000}, 250, 1).values, std::vector<uint8_t>(250 * 250, 128));
}

TEST(JpegReader, ADamagedCodeIsNamed) {
  Bytes file = encode_jpeg(landscape(48, 64, 3), {.restart_interval = 1});
  const size_t middle = file.size() / 2;
  for (size_t i = middle; i < middle + 40; ++i) file[i] = '\x55';
  expect_contains(fault_of(file), "a.jpg");
}

TEST(JpegReader, StrayBytesAreNoFault) {
  const Bytes file = encode_jpeg(landscape(48, 64, 3));
  const Pixels expected = read(file, {0, 0, 48, 64}, 48, 3);
  const size_t end = file.size() - 2;
  const Bytes before_end = file.substr(0, end) + "x" + file.substr(end);
  const Bytes before_table = file.substr(0, 2) + Bytes(3, '\0') + file.substr(2);
  for (const Bytes& odd : {before_end, before_table, file + "trailing"}) {
    EXPECT_EQ(read(odd, {0, 0, 48, 64}, 48, 3).values, expected.values);
  }
}

TEST(JpegReader, ComponentsOfAnUnknownMeaningAreNamed) {
  Bytes file = encode_jpeg(landscape(8, 8, 3));
  EXPECT_THROW(read(file.substr(0, 2), {0, 0, 8, 8}, 8, 3), BadSample);
  const size_t header = file.find("\xff\xc0");
  file[header + 4] = 4;  // bits of a value
  EXPECT_THROW(read(file, {0, 0, 8, 8}, 8, 3), BadSample);
}

}  // namespace
}  // namespace lockstep::data

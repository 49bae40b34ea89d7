#include "data/formats/orientation.h"

#include <gtest/gtest.h>

#include "tests/data/pictures.h"

namespace lockstep::data {
namespace {

Orientation read(const Bytes& segment) {
  return read_orientation(std::as_bytes(std::span(segment)));
}

/// Where each tag puts the corners: the letters of a 2 x 2 picture stored as "abcd", upright.
struct Row {
  int tag;
  const char* upright;
};
constexpr Row kRows[] = {{1, "abcd"}, {2, "badc"}, {3, "dcba"}, {4, "cdab"},
                         {5, "acbd"}, {6, "cadb"}, {7, "dbca"}, {8, "bdac"}};

TEST(Orientation, TurnsAsTheTagSaysInBothByteOrders) {
  for (const auto& [tag, expected] : kRows) {
    for (const bool little_endian : {false, true}) {
      const Orientation orientation = read(exif_orientation(tag, little_endian));
      std::string upright(4, ' ');
      turn_upright(orientation, 1, 2, reinterpret_cast<const uint8_t*>("abcd"),
                   reinterpret_cast<uint8_t*>(upright.data()));
      EXPECT_EQ(upright, expected) << tag;
    }
  }
}

TEST(Orientation, EveryPlaneIsTurned) {
  std::string upright(8, ' ');
  turn_upright(read(exif_orientation(3)), 2, 2, reinterpret_cast<const uint8_t*>("abcdefgh"),
               reinterpret_cast<uint8_t*>(upright.data()));
  EXPECT_EQ(upright, "dcbahgfe");
}

// A box of one pixel in a stored picture of 4 x 6 must be the stored pixel that the definition names.
TEST(Orientation, FindsABoxInTheStoredPicture) {
  for (const auto& row : kRows) {
    const Orientation orientation = read(exif_orientation(row.tag));
    const Box upright{1, 2, 1, 1};
    const int64_t a = orientation.transpose ? upright.left : upright.top;
    const int64_t b = orientation.transpose ? upright.top : upright.left;
    const Box expected{orientation.flip_rows ? 3 - a : a, orientation.flip_columns ? 5 - b : b, 1, 1};
    EXPECT_EQ(to_stored(orientation, upright, 4, 6), expected) << row.tag;
  }
  EXPECT_EQ(to_stored(read(exif_orientation(6)), {0, 0, 3, 1}, 4, 6), (Box{3, 0, 1, 3}));
}

TEST(Orientation, WhatIsNoOrientationIsUpright) {
  const Bytes good = exif_orientation(6);
  EXPECT_NE(read(good), Orientation{});
  for (size_t size = 0; size + 6 < good.size(); ++size) EXPECT_EQ(read(good.substr(0, size)), Orientation{});
  EXPECT_EQ(read(exif_orientation(0)), Orientation{});
  EXPECT_EQ(read(exif_orientation(9)), Orientation{});
  EXPECT_EQ(read("http://ns.adobe.com/xap/1.0/" + good), Orientation{});
}

TEST(Orientation, DamagedOffsetsAndTypesAreUpright) {
  const auto changed = [](size_t position, char value) {
    Bytes bytes = exif_orientation(6);
    bytes[position] = value;
    return bytes;
  };
  EXPECT_EQ(read(changed(13, '\xff')), Orientation{}) << "the directory is beyond the end";
  EXPECT_EQ(read(changed(16, '\x04')), Orientation{}) << "another tag";
  EXPECT_EQ(read(changed(18, '\x04')), Orientation{}) << "another type";
  EXPECT_EQ(read(changed(15, '\xff')), read(exif_orientation(6))) << "many entries, the first counts";
}

}  // namespace
}  // namespace lockstep::data

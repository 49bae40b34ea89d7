#include "train/hash.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

TEST(Hash64, IsXxh3) {
  EXPECT_EQ(Hash64().value(), 0x2d06800538d394c2U);  // the empty input's published value
}

TEST(Hash64, DoesNotDependOnThePieces) {
  const std::string text(1000, 'x');
  Hash64 whole;
  whole.update(text.data(), text.size());
  Hash64 pieces;
  pieces.update(text.data(), 1);
  pieces.update(text.data(), 0);
  pieces.update(text.data(), 999);
  EXPECT_EQ(pieces.value(), whole.value());
  whole.update("y", 1);
  EXPECT_NE(pieces.value(), whole.value());
}

TEST(ToHex, HasSixteenDigits) {
  EXPECT_EQ(to_hex(0), "0000000000000000");
  EXPECT_EQ(to_hex(0x0123456789abcdefU), "0123456789abcdef");
}

}  // namespace
}  // namespace lockstep::train

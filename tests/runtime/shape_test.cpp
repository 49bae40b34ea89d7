#include "runtime/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/error.h"

namespace lockstep {
namespace {

TEST(Shape, ScalarHasOneElement) {
  const Shape scalar;
  EXPECT_EQ(scalar.ndim(), 0);
  EXPECT_EQ(scalar.count(), 1);
  EXPECT_EQ(to_text(scalar), "[]");
}

TEST(Shape, ExtentsCountFromBothEnds) {
  Shape shape{32, 1, 28, 27};
  EXPECT_EQ(shape.ndim(), 4);
  EXPECT_EQ(shape[0], 32);
  EXPECT_EQ(shape[-1], 27);
  EXPECT_EQ(shape[-4], 32);
  EXPECT_EQ(shape.count(), 32 * 28 * 27);
  shape[-1] = 28;
  EXPECT_EQ(to_text(shape), "[32, 1, 28, 28]");
}

TEST(Shape, AnExtentOfZeroMeansNoElements) {
  EXPECT_EQ((Shape{4, 0, 3}).count(), 0);
}

TEST(Shape, OutOfRangeDimensionsAreNamed) {
  const Shape shape{2, 3};
  EXPECT_THROW(shape[2], InvalidArgument);
  EXPECT_THROW(shape[-3], InvalidArgument);
  EXPECT_THROW(Shape{}[0], InvalidArgument);
  try {
    shape[5];
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[shape] dimension 5 of [2, 3] is out of range: expected [-2, 2)");
  }
}

TEST(Shape, HoldsEightDimensionsAndNoMore) {
  const std::vector<int64_t> nine(9, 1);
  EXPECT_THROW(Shape{std::span(nine)}, InvalidArgument);
  Shape shape{std::span(nine).first(8)};
  EXPECT_EQ(shape.ndim(), 8);
  EXPECT_THROW(shape.push_back(1), InvalidArgument);
}

TEST(Shape, ComparesExtentsAndNumberOfDimensions) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 0}));
  EXPECT_NE((Shape{}), (Shape{0}));
}

TEST(Shape, PushBackAppends) {
  Shape shape;
  shape.push_back(5);
  shape.push_back(7);
  EXPECT_EQ(shape, (Shape{5, 7}));
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), (std::vector<int64_t>{5, 7}));
}

TEST(Shape, CountThatDoesNotFitIsAnError) {
  const int64_t large = int64_t{1} << 32;
  EXPECT_THROW((Shape{large, large}).count(), InvalidArgument);
}

TEST(Shape, RowMajorStrides) {
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(row_major_strides({}), (Shape{}));
  EXPECT_EQ(row_major_strides({7}), (Shape{1}));
  const int64_t large = int64_t{1} << 32;
  EXPECT_EQ(row_major_strides({large, large}), (Shape{large, 1})) << "the outermost extent makes no stride";
  EXPECT_THROW(row_major_strides({0, large, large}), InvalidArgument);
}

TEST(Shape, BroadcastAlignsAtTheEnd) {
  EXPECT_EQ(broadcast_shapes("add", {8, 1, 6, 1}, {7, 1, 5}), (Shape{8, 7, 6, 5}));
  EXPECT_EQ(broadcast_shapes("add", {7, 1, 5}, {8, 1, 6, 1}), (Shape{8, 7, 6, 5}));
  EXPECT_EQ(broadcast_shapes("add", {3, 4}, {}), (Shape{3, 4}));
  EXPECT_EQ(broadcast_shapes("add", {}, {}), (Shape{}));
  EXPECT_EQ(broadcast_shapes("add", {1}, {0}), (Shape{0}));
  EXPECT_EQ(broadcast_shapes("add", {0, 2}, {1, 2}), (Shape{0, 2}));
}

TEST(Shape, BroadcastNamesOperationAndBothShapes) {
  try {
    broadcast_shapes("multiply", {2, 3}, {4, 2, 5});
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[multiply] shapes [2, 3] and [4, 2, 5] do not broadcast: 3 and 5 differ and neither is 1");
  }
  EXPECT_THROW(broadcast_shapes("add", {0}, {2}), InvalidArgument);
}

}  // namespace
}  // namespace lockstep

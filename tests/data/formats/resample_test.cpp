#include "data/formats/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/rng.h"
#include "tests/data/pictures.h"

namespace lockstep::data {
namespace {

Pixels whole(const Raster& raster) {
  return {raster.height,
          raster.width,
          raster.channels,
          raster.values,
          0,
          0,
          static_cast<double>(raster.height),
          static_cast<double>(raster.width)};
}

std::vector<uint8_t> resampled(const Pixels& pixels, int64_t size) {
  std::vector<uint8_t> output(static_cast<size_t>(pixels.channels * size * size));
  Resampler().resample(pixels, size, output.data());
  return output;
}

/// A row of pixels repeated, so that what happens across is seen alone.
std::vector<int> resampled_row(const std::vector<int>& row, int64_t size) {
  const auto width = static_cast<int64_t>(row.size());
  const Raster raster = make_raster(size, width, 1, [&](int64_t, int64_t x, int64_t) { return row[x]; });
  const std::vector<uint8_t> output = resampled(whole(raster), size);
  return {output.begin(), output.begin() + size};
}

double triangle(double distance, double reach) {
  return std::max(0.0, 1 - std::abs(distance) / reach);
}

/// The definition, in double precision and without factoring it: the sum over all pixels there are.
double reference(const Pixels& pixels, int64_t size, int64_t y, int64_t x, int64_t channel) {
  const double down = pixels.part_height / static_cast<double>(size);
  const double across = pixels.part_width / static_cast<double>(size);
  const double center_y = pixels.top + (static_cast<double>(y) + 0.5) * down;
  const double center_x = pixels.left + (static_cast<double>(x) + 0.5) * across;
  double sum = 0;
  double weights = 0;
  for (int64_t row = 0; row < pixels.height; ++row) {
    for (int64_t column = 0; column < pixels.width; ++column) {
      const double weight = triangle(static_cast<double>(row) + 0.5 - center_y, std::max(down, 1.0)) *
                            triangle(static_cast<double>(column) + 0.5 - center_x, std::max(across, 1.0));
      sum += weight * pixels.row(row)[column * pixels.channels + channel];
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(Resample, TheSameSizeIsACopyInPlanes) {
  const Raster raster = landscape(5, 5, 3);
  const std::vector<uint8_t> output = resampled(whole(raster), 5);
  for (int64_t i = 0; i < 75; ++i) EXPECT_EQ(output[i], raster.at(i % 25 / 5, i % 5, i / 25));
}

// At one half, an output pixel is 1/8, 3/8, 3/8, 1/8 of the four around it; less at the edge.
TEST(Resample, HalvesByATriangleOfFour) {
  EXPECT_EQ(resampled_row({0, 0, 80, 160, 0, 0, 0, 0}, 4), (std::vector<int>{11, 90, 20, 0}));
}

TEST(Resample, DoublesByLinearInterpolation) {
  EXPECT_EQ(resampled_row({0, 100}, 4), (std::vector<int>{0, 25, 75, 100}));
}

TEST(Resample, RoundsOnceAtTheEnd) {
  EXPECT_EQ(resampled_row({1, 2}, 1), (std::vector<int>{2}));
  EXPECT_EQ(resampled_row({255, 255, 255, 255, 255, 255, 255}, 3), (std::vector<int>{255, 255, 255}));
}

TEST(Resample, ObeysItsDefinitionAtAnyScale) {
  const RandomStream random(3, Purpose::kTest, 0, 0);
  for (uint64_t trial = 0; trial < 60; ++trial) {
    const auto draw = [&](uint64_t which, uint32_t bound) { return random.below(8 * trial + which, bound); };
    Pixels pixels = whole(landscape(1 + draw(0, 40), 1 + draw(1, 40), draw(2, 2) == 0 ? 1 : 3));
    pixels.top = 0.125 * draw(3, 8);
    pixels.left = 0.125 * draw(4, 8);
    pixels.part_height -= pixels.top;
    pixels.part_width -= pixels.left;
    const int64_t size = 1 + draw(5, 20);
    const std::vector<uint8_t> output = resampled(pixels, size);
    for (int64_t i = 0; i < static_cast<int64_t>(output.size()); ++i) {
      const int64_t place = i % (size * size);
      ASSERT_NEAR(output[i], reference(pixels, size, place / size, place % size, i / (size * size)),
                  0.5 + 1e-4);
    }
  }
}

}  // namespace
}  // namespace lockstep::data

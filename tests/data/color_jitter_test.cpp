#include "data/color_jitter.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "runtime/rng.h"

namespace lockstep::data {
namespace {

using Values = std::vector<float>;

Values changed(const ColorChange& change, int64_t channels, Values image) {
  change_colors(change, channels, static_cast<int64_t>(image.size()) / channels, image.data());
  return image;
}

void expect_near(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(ColorJitter, ByDefaultNothingChanges) {
  const Values image{0, 0.25F, 0.5F, 0.75F, 1, 0.125F};
  EXPECT_EQ(changed({}, 3, image), image);
  EXPECT_EQ(changed({}, 1, image), image);
}

TEST(ColorJitter, BrightnessMultiplies) {
  EXPECT_EQ(changed({.brightness = 2}, 1, {0, 0.25F, 0.75F}), (Values{0, 0.5F, 1}));
  EXPECT_EQ(changed({.brightness = 0.5F}, 3, {1, 0.5F, 0}), (Values{0.5F, 0.25F, 0}));
}

TEST(ColorJitter, ContrastGoesAwayFromTheMeanGrey) {
  EXPECT_EQ(changed({.contrast = 0.5F}, 1, {0, 1, 0.5F, 0.5F}), (Values{0.25F, 0.75F, 0.5F, 0.5F}));
  EXPECT_EQ(changed({.contrast = 3}, 1, {0, 1, 0.5F, 0.5F}), (Values{0, 1, 0.5F, 0.5F}));
  // Two pixels, red and white: the mean grey is (0.2989 + 0.9999) / 2.
  expect_near(changed({.contrast = 0}, 3, {1, 1, 0, 1, 0, 1}), Values(6, 0.6494F));
}

TEST(ColorJitter, SaturationGoesAwayFromThePixelsGrey) {
  expect_near(changed({.saturation = 0}, 3, {1, 0, 0}), {0.2989F, 0.2989F, 0.2989F});
  expect_near(changed({.saturation = 0.5F}, 3, {0, 1, 0}), {0.2935F, 0.7935F, 0.2935F});
  expect_near(changed({.saturation = 2}, 3, {0.5F, 0.25F, 0.25F}),
              {0.5F * 2 - 0.3247F, 0.5F - 0.3247F, 0.5F - 0.3247F});
}

TEST(ColorJitter, HueTurnsTheColourCircle) {
  expect_near(changed({.hue = 1.0F / 3}, 3, {1, 0, 0}), {0, 1, 0});
  expect_near(changed({.hue = -1.0F / 3}, 3, {1, 0, 0}), {0, 0, 1});
  expect_near(changed({.hue = 0.5F}, 3, {1, 0.5F, 0}), {0, 0.5F, 1});
  expect_near(changed({.hue = 0.25F}, 3, {0.4F, 0.4F, 0.4F}), {0.4F, 0.4F, 0.4F});
}

/// Through hue, saturation and value and back, by the six cases.
std::array<double, 3> turned_by_definition(double red, double green, double blue, double turn) {
  const double value = std::max({red, green, blue});
  const double range = value - std::min({red, green, blue});
  const double saturation = range / value;
  double hue = value == red     ? (green - blue) / range
               : value == green ? 2 + (blue - red) / range
                                : 4 + (red - green) / range;
  hue = hue / 6 + turn;
  hue -= std::floor(hue);
  const int sector = static_cast<int>(hue * 6) % 6;
  const double within = hue * 6 - sector;
  const double p = value * (1 - saturation);
  const double q = value * (1 - saturation * within);
  const double t = value * (1 - saturation * (1 - within));
  const std::array<std::array<double, 3>, 6> cases{
      {{value, t, p}, {q, value, p}, {p, value, t}, {p, q, value}, {t, p, value}, {value, p, q}}};
  return cases[static_cast<size_t>(sector)];
}

TEST(ColorJitter, HueAgreesWithTheSixCases) {
  const RandomStream random(1, Purpose::kTest, 0, 0);
  for (uint64_t i = 0; i < 2000; ++i) {
    const float red = random.uniform(4 * i);
    const float green = random.uniform(4 * i + 1);
    const float blue = random.uniform(4 * i + 2);
    const float turn = random.uniform(4 * i + 3) - 0.5F;
    const std::array<double, 3> expected = turned_by_definition(red, green, blue, turn);
    const Values found = changed({.hue = turn}, 3, {red, green, blue});
    for (size_t channel = 0; channel < 3; ++channel) EXPECT_NEAR(found[channel], expected[channel], 2e-6);
  }
}

TEST(ColorJitter, BrightnessComesFirst) {
  // 0.5 and 0.1 become 1 and 0.2 with the mean 0.6, from which they move by half as much again.
  expect_near(changed({.brightness = 2, .contrast = 1.5F}, 1, {0.5F, 0.1F}), {1, 0});
  expect_near(changed({.brightness = 2, .contrast = 0.5F}, 1, {0.5F, 0.1F}), {0.8F, 0.4F});
}

}  // namespace
}  // namespace lockstep::data

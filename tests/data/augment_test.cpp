#include "data/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "runtime/error.h"
#include "tests/data/error_of.h"

namespace lockstep::data {
namespace {

const SampleSpec kBytes{"bytes", {2, 3, 4}, DType::kU8, 10};
const SampleSpec kFloats{"floats", {2, 3, 4}, DType::kF32, 10};

template <class T>
std::vector<T> numbered_image(const SampleSpec& spec) {
  std::vector<T> image;
  for (int64_t i = 0; i < spec.shape.count(); ++i) image.push_back(static_cast<T>(10 * i + 1));
  return image;
}

template <class T>
std::vector<float> augmented(const AugmentOptions& options, const SampleSpec& spec, int64_t epoch,
                             int64_t sample) {
  const std::vector<T> image = numbered_image<T>(spec);
  std::vector<float> output(image.size(), std::numeric_limits<float>::quiet_NaN());
  Augmenter(options, spec)
      .apply(reinterpret_cast<const std::byte*>(image.data()), epoch, sample, output.data());
  return output;
}

/// Pads, crops and flips one pixel at a time, as the header says.
template <class T>
std::vector<float> moved(const AugmentDraw& draw, const SampleSpec& spec) {
  const std::vector<T> image = numbered_image<T>(spec);
  const int64_t height = spec.shape[1];
  const int64_t width = spec.shape[2];
  std::vector<float> output;
  for (int64_t channel = 0; channel < spec.shape[0]; ++channel) {
    for (int64_t row = 0; row < height; ++row) {
      for (int64_t column = 0; column < width; ++column) {
        const int64_t y = row + draw.top;
        const int64_t x = (draw.flip ? width - 1 - column : column) + draw.left;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        output.push_back(inside ? static_cast<float>(image[(channel * height + y) * width + x]) : 0.0F);
      }
    }
  }
  return output;
}

TEST(Augment, ByDefaultBytesBecomeTheUnitInterval) {
  std::vector<float> expected;
  for (const uint8_t value : numbered_image<uint8_t>(kBytes)) {
    expected.push_back(static_cast<float>(value) * (1.0F / 255.0F));
  }
  EXPECT_EQ(augmented<uint8_t>({}, kBytes, 0, 0), expected);
}

TEST(Augment, ByDefaultFloatsStayAsTheyAre) {
  EXPECT_EQ(augmented<float>({}, kFloats, 0, 0), numbered_image<float>(kFloats));
}

TEST(Augment, NormalisesPerChannel) {
  const std::vector<float> output = augmented<float>({.mean = {1, 3}, .std = {2, 0.5}}, kFloats, 0, 0);
  const std::vector<float> image = numbered_image<float>(kFloats);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(output[i], (image[i] - 1) / 2);
  for (size_t i = 12; i < 24; ++i) EXPECT_EQ(output[i], (image[i] - 3) * 2);
}

TEST(Augment, BytesAreNormalisedInUnitsOf255) {
  const std::vector<float> output =
      augmented<uint8_t>({.mean = {0.5, 0}, .std = {1.0 / 255, 1}}, kBytes, 0, 0);
  const std::vector<uint8_t> image = numbered_image<uint8_t>(kBytes);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(output[i], image[i] - 127.5F);
}

TEST(Augment, MovesPixelsAsDrawn) {
  // Unit scale and no offset, so that every value is exact.
  const AugmentOptions options{.seed = 5, .crop_padding = 2, .flip = true, .std = {1.0 / 255, 1.0 / 255}};
  const AugmentOptions for_floats{.seed = 5, .crop_padding = 2, .flip = true};
  std::set<std::tuple<int64_t, int64_t, bool>> seen;
  for (int64_t sample = 0; sample < 500; ++sample) {
    const AugmentDraw draw = draw_augment(options, 1, sample);
    seen.insert({draw.top, draw.left, draw.flip});
    EXPECT_EQ(augmented<uint8_t>(options, kBytes, 1, sample), moved<uint8_t>(draw, kBytes)) << sample;
    EXPECT_EQ(augmented<float>(for_floats, kFloats, 1, sample), moved<float>(draw, kFloats)) << sample;
  }
  EXPECT_EQ(seen.size(), 5U * 5U * 2U) << "every draw occurs";
}

TEST(Augment, PaddingIsZeroBeforeNormalisation) {
  const AugmentOptions options{.seed = 5, .crop_padding = 2, .mean = {3, 3}, .std = {2, 2}};
  int64_t sample = 0;
  while (draw_augment(options, 0, sample).top != -2) ++sample;
  EXPECT_EQ(augmented<float>(options, kFloats, 0, sample)[0], -1.5F);
}

TEST(Augment, DrawsDifferBetweenSamplesEpochsAndSeeds) {
  const auto crops = [](uint64_t seed, int64_t epoch) {
    const AugmentOptions options{.seed = seed, .crop_padding = 1000};
    std::set<std::pair<int64_t, int64_t>> offsets;
    for (int64_t sample = 0; sample < 8; ++sample) {
      const AugmentDraw draw = draw_augment(options, epoch, sample);
      offsets.insert({draw.top, draw.left});
    }
    return offsets;
  };
  auto all = crops(1, 0);
  all.merge(crops(1, 1));
  all.merge(crops(2, 0));
  EXPECT_EQ(all.size(), 24U);
  EXPECT_EQ(crops(1, 0), crops(1, 0));
}

TEST(Augment, OneOptionDoesNotChangeWhatAnotherDraws) {
  for (int64_t sample = 0; sample < 20; ++sample) {
    const AugmentDraw both = draw_augment({.seed = 1, .crop_padding = 4, .flip = true}, 0, sample);
    const AugmentDraw crop = draw_augment({.seed = 1, .crop_padding = 4}, 0, sample);
    const AugmentDraw flip = draw_augment({.seed = 1, .flip = true}, 0, sample);
    EXPECT_EQ(both, (AugmentDraw{crop.top, crop.left, flip.flip}));
    EXPECT_FALSE(crop.flip);
    EXPECT_EQ(flip.top, 0);
  }
}

const SampleSpec kColors{"colours", {3, 3, 4}, DType::kU8, 10};
constexpr double kLeast = 0.6;  // what the jitter below may multiply by
constexpr double kMost = 1.4;
const AugmentOptions kJitter{.seed = 1, .brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.25};

TEST(Augment, ColoursAreDrawnFromTheirWholeRanges) {
  ColorChange least{2, 2, 2, 2};
  ColorChange most{0, 0, 0, -2};
  for (int64_t sample = 0; sample < 2000; ++sample) {
    const ColorChange color = draw_augment(kJitter, 0, sample).color;
    for (const auto member :
         {&ColorChange::brightness, &ColorChange::contrast, &ColorChange::saturation, &ColorChange::hue}) {
      least.*member = std::min(least.*member, color.*member);
      most.*member = std::max(most.*member, color.*member);
    }
  }
  for (const auto member : {&ColorChange::brightness, &ColorChange::contrast, &ColorChange::saturation}) {
    EXPECT_NEAR(least.*member, kLeast, 0.01);
    EXPECT_NEAR(most.*member, kMost, 0.01);
    EXPECT_GE(least.*member, static_cast<float>(kLeast));
    EXPECT_LE(most.*member, static_cast<float>(kMost));
  }
  EXPECT_NEAR(least.hue, -0.25, 0.01);
  EXPECT_NEAR(most.hue, 0.25, 0.01);
}

TEST(Augment, AFactorIsNeverNegative) {
  float least = 1;
  for (int64_t sample = 0; sample < 200; ++sample) {
    least = std::min(least, draw_augment({.seed = 1, .brightness = 3}, 0, sample).color.brightness);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.2F);
}

TEST(Augment, OneColourOptionDoesNotChangeWhatAnotherDraws) {
  AugmentOptions all = kJitter;
  all.crop_padding = 1;
  all.flip = true;
  for (int64_t sample = 0; sample < 20; ++sample) {
    const AugmentDraw draw = draw_augment(all, 0, sample);
    const AugmentDraw moved = draw_augment({.seed = 1, .crop_padding = 1, .flip = true}, 0, sample);
    EXPECT_EQ(draw, (AugmentDraw{moved.top, moved.left, moved.flip, draw.color}));
    const auto color = [&](const AugmentOptions& options) { return draw_augment(options, 0, sample).color; };
    EXPECT_EQ(draw.color.brightness, color({.seed = 1, .brightness = 0.4}).brightness);
    EXPECT_EQ(color({.seed = 1, .contrast = 0.4}), (ColorChange{.contrast = draw.color.contrast}));
    EXPECT_EQ(color({.seed = 1, .saturation = 0.4}), (ColorChange{.saturation = draw.color.saturation}));
    EXPECT_EQ(color({.seed = 1, .hue = 0.25}), (ColorChange{.hue = draw.color.hue}));
  }
}

TEST(Augment, ColoursChangeBetweenMovingAndNormalising) {
  AugmentOptions options = kJitter;
  options.crop_padding = 1;
  options.mean = {0.1, 0.2, 0.3};
  options.std = {0.5, 0.25, 2};
  for (int64_t sample = 0; sample < 10; ++sample) {
    const AugmentDraw draw = draw_augment(options, 2, sample);
    std::vector<float> expected = moved<uint8_t>(draw, kColors);
    for (float& value : expected) value *= 1.0F / 255;
    change_colors(draw.color, 3, 12, expected.data());
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] =
          (expected[i] - static_cast<float>(options.mean[i / 12])) / static_cast<float>(options.std[i / 12]);
    }
    const std::vector<float> output = augmented<uint8_t>(options, kColors, 2, sample);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(output[i], expected[i], 1e-5) << i;
  }
}

// 10,000 flips: binomial with deviation 50.
TEST(Augment, HalfOfTheImagesAreFlipped) {
  int flips = 0;
  for (int64_t sample = 0; sample < 10000; ++sample) {
    flips += draw_augment({.seed = 1, .flip = true}, 0, sample).flip ? 1 : 0;
  }
  EXPECT_NEAR(flips, 5000, 5 * 50);
}

TEST(Augment, RefusesOptionsThatDoNotFit) {
  const auto refused = [](const AugmentOptions& options, const SampleSpec& spec) {
    return error_of<InvalidArgument>([&] { Augmenter(options, spec); });
  };
  AugmentOptions options;
  options.crop_padding = 3;
  expect_contains(refused(options, kBytes), "crop padding: expected 0 to 2 for images of [2, 3, 4], got 3");
  options.crop_padding = -1;
  expect_contains(refused(options, kBytes), "got -1");
  expect_contains(refused({.mean = {1}}, kBytes), "mean: expected one value for each of 2 channels, got 1");
  expect_contains(refused({.std = {1, 1, 1}}, kBytes), "std: expected one value for each of 2 channels");
  expect_contains(refused({.std = {1, 0}}, kBytes), "std: expected positive values, got 0");
  expect_contains(refused({.mean = {NAN, 0}}, kBytes), "mean: expected finite values, got nan");
  expect_contains(refused({.brightness = 0.1}, kBytes),
                  "brightness: the images of bytes have 2 channels, expected 1 or 3");
  const SampleSpec grey{"grey", {1, 3, 4}, DType::kU8, 10};
  expect_contains(refused({.saturation = 0.1}, grey),
                  "saturation: the images of grey have 1 channels, expected 3");
  expect_contains(refused({.hue = 0.1}, grey), "hue: the images of grey have 1 channels, expected 3");
  EXPECT_NO_THROW(Augmenter({.brightness = 0.1, .contrast = 0.1}, grey));
  expect_contains(refused({.hue = 0.6}, kColors), "hue: expected 0 to 0.5, got 0.6");
  expect_contains(refused({.contrast = -0.1}, kColors), "contrast: expected 0 to inf, got -0.1");
  expect_contains(refused({}, {"flat", {4}, DType::kU8, 2}), "expected [channels, height, width], got [4]");
  expect_contains(refused({}, {"wide", {1, 2, 2}, DType::kI64, 2}), "expected u8 or f32, got i64");
}

}  // namespace
}  // namespace lockstep::data

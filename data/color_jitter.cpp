#include "data/color_jitter.h"

#include <algorithm>
#include <cmath>

namespace lockstep::data {
namespace {

float clamped(float value) {
  return std::clamp(value, 0.0F, 1.0F);
}

/// factor * value + (1 - factor) * other
float blend(float value, float other, float factor) {
  return clamped(factor * value + (1 - factor) * other);
}

/// torchvision's weights.
float grey(float red, float green, float blue) {
  return 0.2989F * red + 0.587F * green + 0.114F * blue;
}

struct Planes {
  float* red;
  float* green;
  float* blue;
};

float mean_grey(int64_t channels, int64_t pixels, const float* image) {
  double sum = 0;
  for (int64_t i = 0; i < pixels; ++i) {
    sum += channels == 1 ? image[i] : grey(image[i], image[pixels + i], image[2 * pixels + i]);
  }
  return static_cast<float>(sum / static_cast<double>(pixels));
}

void saturate(const Planes& planes, int64_t pixels, float factor) {
  for (int64_t i = 0; i < pixels; ++i) {
    const float center = grey(planes.red[i], planes.green[i], planes.blue[i]);
    for (float* plane : {planes.red, planes.green, planes.blue}) plane[i] = blend(plane[i], center, factor);
  }
}

/// Where a colour is on the circle, in [0, 1): red at 0, green at 1/3, blue at 2/3 (Smith 1978, "Color gamut
/// transform pairs").
float hue_of(float red, float green, float blue, float greatest, float range) {
  float sixths = 0;
  if (greatest == red) {
    sixths = (green - blue) / range;
  } else if (greatest == green) {
    sixths = 2 + (blue - red) / range;
  } else {
    sixths = 4 + (red - green) / range;
  }
  return sixths / 6;
}

/// One channel of the colour with this hue: falls off linearly between 60 and 120 degrees from its own place.
float channel_of(float hue, float place, float greatest, float range) {
  const float distance = std::abs(hue - place - std::round(hue - place));
  return greatest - range * std::clamp(distance * 6 - 1, 0.0F, 1.0F);
}

void turn_hue(const Planes& planes, int64_t pixels, float turn) {
  for (int64_t i = 0; i < pixels; ++i) {
    const float red = planes.red[i];
    const float green = planes.green[i];
    const float blue = planes.blue[i];
    const float greatest = std::max({red, green, blue});
    const float range = greatest - std::min({red, green, blue});
    if (range == 0) continue;  // grey has no hue
    const float hue = hue_of(red, green, blue, greatest, range) + turn;
    planes.red[i] = channel_of(hue, 0, greatest, range);
    planes.green[i] = channel_of(hue, 1.0F / 3, greatest, range);
    planes.blue[i] = channel_of(hue, 2.0F / 3, greatest, range);
  }
}

}  // namespace

void change_colors(const ColorChange& change, int64_t channels, int64_t pixels, float* image) {
  const int64_t count = channels * pixels;
  if (change.brightness != 1) {
    for (int64_t i = 0; i < count; ++i) image[i] = clamped(image[i] * change.brightness);
  }
  if (change.contrast != 1) {
    const float mean = mean_grey(channels, pixels, image);
    for (int64_t i = 0; i < count; ++i) image[i] = blend(image[i], mean, change.contrast);
  }
  if (channels == 1) return;
  const Planes planes{image, image + pixels, image + 2 * pixels};
  if (change.saturation != 1) saturate(planes, pixels, change.saturation);
  if (change.hue != 0) turn_hue(planes, pixels, change.hue);
}

}  // namespace lockstep::data

#include "data/formats/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::data {

namespace {

/// One pixel's channels as a vector; what it holds of the next pixels comes to nothing.
using Lanes = float __attribute__((vector_size(16)));
constexpr int64_t kLanes = 4;

}  // namespace

void Resampler::plan(double start, double length, int64_t extent, int64_t size, Axis& axis) {
  axis.taps.clear();
  axis.weights.clear();
  const double scale = length / static_cast<double>(size);
  const double reach = std::max(scale, 1.0);
  for (int64_t i = 0; i < size; ++i) {
    const double center = start + (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::clamp<int64_t>(std::llround(center - reach), 0, extent - 1);
    const int64_t last = std::clamp<int64_t>(std::llround(center + reach), first + 1, extent);
    const auto weight = [&](int64_t pixel) {
      return std::max(0.0, 1 - std::abs(static_cast<double>(pixel) + 0.5 - center) / reach);
    };
    double sum = 0;
    for (int64_t pixel = first; pixel < last; ++pixel) sum += weight(pixel);
    axis.taps.push_back({first, last - first, static_cast<int64_t>(axis.weights.size())});
    for (int64_t pixel = first; pixel < last; ++pixel) {
      axis.weights.push_back(static_cast<float>(weight(pixel) / sum));
    }
  }
}

void Resampler::resample(const Pixels& pixels, int64_t size, uint8_t* output) {
  plan(pixels.top, pixels.part_height, pixels.height, size, down_);
  plan(pixels.left, pixels.part_width, pixels.width, size, across_);
  row_.resize(static_cast<size_t>(pixels.width * pixels.channels + kLanes));
  for (int64_t y = 0; y < size; ++y) {
    mix_rows(pixels, down_.taps[static_cast<size_t>(y)]);
    pixels.channels == 1 ? mix_columns<1>(size, y, output) : mix_columns<3>(size, y, output);
  }
}

void Resampler::mix_rows(const Pixels& pixels, const Taps& taps) {
  std::fill(row_.begin(), row_.end(), 0.0F);
  const auto count = static_cast<size_t>(pixels.width * pixels.channels);
  float* sums = row_.data();
  for (int64_t i = 0; i < taps.count; ++i) {
    const float weight = down_.weights[static_cast<size_t>(taps.first_weight + i)];
    const uint8_t* input = pixels.row(taps.first + i);
    for (size_t x = 0; x < count; ++x) sums[x] += weight * static_cast<float>(input[x]);
  }
}

template <int kChannels>
void Resampler::mix_columns(int64_t size, int64_t row, uint8_t* output) const {
  for (int64_t x = 0; x < size; ++x) {
    const Taps& taps = across_.taps[static_cast<size_t>(x)];
    const float* weights = across_.weights.data() + taps.first_weight;
    const float* input = row_.data() + taps.first * kChannels;
    Lanes sums{0.5F, 0.5F, 0.5F, 0.5F};  // cut off below, they are rounded
    for (int64_t i = 0; i < taps.count; ++i, input += kChannels) {
      Lanes pixel;
      std::memcpy(&pixel, input, sizeof pixel);
      sums += weights[i] * pixel;
    }
    for (int channel = 0; channel < kChannels; ++channel) {
      output[(channel * size + row) * size + x] = static_cast<uint8_t>(sums[channel]);
    }
  }
}

}  // namespace lockstep::data

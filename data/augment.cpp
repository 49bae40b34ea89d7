#include "data/augment.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace lockstep::data {

namespace {

/// Places in a sample's random stream.
enum DrawPosition : uint64_t { kTop, kLeft, kFlip, kBrightness, kContrast, kSaturation, kHue };

void check_jitter(const AugmentOptions& options, const SampleSpec& spec) {
  struct Row {
    const char* name;
    double value;
    double most;
    bool for_grey;
  };
  const int64_t channels = spec.shape[0];
  for (const auto& [name, value, most, for_grey] :
       {Row{"brightness", options.brightness, HUGE_VAL, true},
        Row{"contrast", options.contrast, HUGE_VAL, true},
        Row{"saturation", options.saturation, HUGE_VAL, false}, Row{"hue", options.hue, 0.5, false}}) {
    check(value >= 0 && value <= most && std::isfinite(value), "augment", name, ": expected 0 to ", most,
          ", got ", value);
    check(value == 0 || channels == 3 || (for_grey && channels == 1), "augment", name, ": the images of ",
          spec.name, " have ", channels, " channels, expected ", for_grey ? "1 or 3" : "3");
  }
}

/// A factor around 1.
float draw_factor(const RandomStream& random, DrawPosition position, double reach) {
  const double least = std::max(0.0, 1 - reach);
  return static_cast<float>(least + (1 + reach - least) * random.uniform(position));
}

ColorChange draw_color(const AugmentOptions& options, const RandomStream& random) {
  ColorChange change;
  if (options.brightness > 0) change.brightness = draw_factor(random, kBrightness, options.brightness);
  if (options.contrast > 0) change.contrast = draw_factor(random, kContrast, options.contrast);
  if (options.saturation > 0) change.saturation = draw_factor(random, kSaturation, options.saturation);
  if (options.hue > 0) change.hue = static_cast<float>(options.hue * (2.0 * random.uniform(kHue) - 1));
  return change;
}

void check_options(const AugmentOptions& options, const SampleSpec& spec) {
  check(spec.shape.ndim() == 3 && spec.shape.count() > 0, "augment", "shape of the samples of ", spec.name,
        ": expected [channels, height, width], got ", spec.shape);
  check(spec.dtype == DType::kU8 || spec.dtype == DType::kF32, "augment", "dtype of the samples of ",
        spec.name, ": expected u8 or f32, got ", spec.dtype);
  const int64_t smaller_extent = std::min(spec.shape[1], spec.shape[2]);
  check(options.crop_padding >= 0 && options.crop_padding < smaller_extent, "augment",
        "crop padding: expected 0 to ", smaller_extent - 1, " for images of ", spec.shape, ", got ",
        options.crop_padding);
  for (const std::vector<double>* values : {&options.mean, &options.std}) {
    check(values->empty() || static_cast<int64_t>(values->size()) == spec.shape[0], "augment",
          values == &options.mean ? "mean" : "std", ": expected one value for each of ", spec.shape[0],
          " channels, got ", values->size());
  }
  for (const double mean : options.mean) {
    check(std::isfinite(mean), "augment", "mean: expected finite values, got ", mean);
  }
  for (const double std : options.std) {
    check(std::isfinite(std) && std > 0, "augment", "std: expected positive values, got ", std);
  }
  check_jitter(options, spec);
}

}  // namespace

AugmentDraw draw_augment(const AugmentOptions& options, int64_t epoch, int64_t sample) {
  const RandomStream random(options.seed, Purpose::kAugment, static_cast<uint64_t>(epoch),
                            static_cast<uint64_t>(sample));
  AugmentDraw draw;
  if (options.crop_padding > 0) {
    const auto places = static_cast<uint32_t>(2 * options.crop_padding + 1);
    draw.top = random.below(kTop, places) - options.crop_padding;
    draw.left = random.below(kLeft, places) - options.crop_padding;
  }
  if (options.flip) draw.flip = random.below(kFlip, 2) == 1;
  draw.color = draw_color(options, random);
  return draw;
}

Augmenter::Augmenter(AugmentOptions options, const SampleSpec& spec)
    : options_(std::move(options)), dtype_(spec.dtype) {
  check_options(options_, spec);
  height_ = spec.shape[1];
  width_ = spec.shape[2];
  const double unit = dtype_ == DType::kU8 ? 255 : 1;
  for (size_t channel = 0; channel < static_cast<size_t>(spec.shape[0]); ++channel) {
    const double mean = options_.mean.empty() ? 0 : options_.mean[channel];
    const double std = options_.std.empty() ? 1 : options_.std[channel];
    channels_.push_back(
        {static_cast<float>(1 / (unit * std)), static_cast<float>(1 / std), static_cast<float>(-mean / std)});
  }
  scratch_.resize(static_cast<size_t>(spec.nbytes()));
}

void Augmenter::apply(const std::byte* image, int64_t epoch, int64_t sample, float* output) {
  const AugmentDraw draw = draw_augment(options_, epoch, sample);
  if (dtype_ == DType::kU8) {
    convert(reinterpret_cast<const uint8_t*>(image), draw, output);
  } else {
    convert(reinterpret_cast<const float*>(image), draw, output);
  }
}

template <class T>
void Augmenter::convert(const T* image, const AugmentDraw& draw, float* output) {
  // Moving the stored values first keeps the arithmetic one long loop per channel, which vectorises.
  if (draw.top != 0 || draw.left != 0 || draw.flip) {
    T* moved = reinterpret_cast<T*>(scratch_.data());
    move_pixels(image, draw, moved);
    image = moved;
  }
  if (draw.color != ColorChange{}) return change_and_normalise(image, draw.color, output);
  const int64_t pixels = height_ * width_;
  for (const ChannelMap& map : channels_) {
    for (int64_t i = 0; i < pixels; ++i) output[i] = static_cast<float>(image[i]) * map.scale + map.offset;
    image += pixels;
    output += pixels;
  }
}

template <class T>
void Augmenter::change_and_normalise(const T* image, const ColorChange& change, float* output) const {
  constexpr float kUnit = std::is_same_v<T, uint8_t> ? 1.0F / 255 : 1;
  const int64_t pixels = height_ * width_;
  const auto channels = static_cast<int64_t>(channels_.size());
  for (int64_t i = 0; i < channels * pixels; ++i) output[i] = static_cast<float>(image[i]) * kUnit;
  change_colors(change, channels, pixels, output);
  for (const ChannelMap& map : channels_) {
    for (int64_t i = 0; i < pixels; ++i) output[i] = output[i] * map.unit_scale + map.offset;
    output += pixels;
  }
}

template <class T>
void Augmenter::move_pixels(const T* image, const AugmentDraw& draw, T* output) const {
  std::fill_n(output, channels_.size() * static_cast<size_t>(height_ * width_), T{0});
  const int64_t first_row = std::max<int64_t>(0, -draw.top);
  const int64_t last_row = std::min(height_, height_ - draw.top);
  const int64_t first_column = std::max<int64_t>(0, draw.left);  // of the input
  const int64_t last_column = std::min(width_, width_ + draw.left);
  for (size_t channel = 0; channel < channels_.size(); ++channel) {
    for (int64_t y = first_row; y < last_row; ++y) {
      const T* input_row = image + (y + draw.top) * width_;
      T* output_row = output + y * width_;
      if (draw.flip) {
        std::reverse_copy(input_row + first_column, input_row + last_column,
                          output_row + width_ - (last_column - draw.left));
      } else {
        std::copy(input_row + first_column, input_row + last_column, output_row + first_column - draw.left);
      }
    }
    image += height_ * width_;
    output += height_ * width_;
  }
}

}  // namespace lockstep::data

#include "data/framing.h"

#include <algorithm>
#include <cmath>

#include "runtime/rng.h"

namespace lockstep::data {
namespace {

constexpr int kAttempts = 10;
/// Every attempt draws so many numbers.
enum DrawPosition : uint64_t { kArea, kAspect, kTop, kLeft, kDraws };

double between(double low, double high, float part) {
  return low + (high - low) * part;
}

Box middle(int64_t height, int64_t width, int64_t part_height, int64_t part_width) {
  part_height = std::clamp<int64_t>(part_height, 1, height);
  part_width = std::clamp<int64_t>(part_width, 1, width);
  return {(height - part_height) / 2, (width - part_width) / 2, part_height, part_width};
}

/// The largest middle part whose aspect is allowed.
Box largest_allowed(const FramingOptions& options, int64_t height, int64_t width) {
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  if (aspect < options.min_aspect) {
    return middle(height, width, std::llround(static_cast<double>(width) / options.min_aspect), width);
  }
  if (aspect > options.max_aspect) {
    return middle(height, width, height, std::llround(static_cast<double>(height) * options.max_aspect));
  }
  return {0, 0, height, width};
}

Box random_box(const Framing& framing, int64_t height, int64_t width) {
  const FramingOptions& options = framing.options;
  const RandomStream random(framing.seed, Purpose::kFraming, static_cast<uint64_t>(framing.epoch),
                            static_cast<uint64_t>(framing.sample));
  const double whole = static_cast<double>(height) * static_cast<double>(width);
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t first = attempt * kDraws;
    const double area = whole * between(options.min_area, options.max_area, random.uniform(first + kArea));
    const double aspect = std::exp(
        between(std::log(options.min_aspect), std::log(options.max_aspect), random.uniform(first + kAspect)));
    const int64_t part_width = std::llround(std::sqrt(area * aspect));
    const int64_t part_height = std::llround(std::sqrt(area / aspect));
    if (part_width < 1 || part_width > width || part_height < 1 || part_height > height) continue;
    const auto places_down = static_cast<uint32_t>(height - part_height + 1);
    const auto places_right = static_cast<uint32_t>(width - part_width + 1);
    return {random.below(first + kTop, places_down), random.below(first + kLeft, places_right), part_height,
            part_width};
  }
  return largest_allowed(options, height, width);
}

}  // namespace

Box choose_box(const Framing& framing, int64_t height, int64_t width) {
  if (framing.options.random) return random_box(framing, height, width);
  const int64_t edge = std::llround(framing.options.center * static_cast<double>(std::min(height, width)));
  return middle(height, width, edge, edge);
}

}  // namespace lockstep::data

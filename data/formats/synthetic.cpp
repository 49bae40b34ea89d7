#include "data/formats/synthetic.h"

#include <algorithm>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace lockstep::data {

namespace {

/// A pattern is a grid of this many squares each way, whatever the image's size.
constexpr int64_t kCells = 7;
/// What the first of a sample's random words is for; noise starts at the next block.
constexpr uint64_t kLabelPosition = 0;
constexpr uint64_t kFirstNoiseBlock = 1;

/// The random streams of patterns and of each split's samples.
constexpr uint64_t kPatternStream = 0;
uint64_t stream_of(Split split) {
  return split == Split::kTrain ? 1 : 2;
}

/// Sixteen bytes out of every block of the stream.
void fill_with_noise(const RandomStream& random, uint64_t first_block, uint8_t* bytes, int64_t count) {
  for (int64_t begin = 0; begin < count; begin += 16) {
    const auto words = random.block(first_block + static_cast<uint64_t>(begin / 16));
    const int64_t end = std::min<int64_t>(begin + 16, count);
    for (int64_t i = begin; i < end; ++i) {
      const auto within = static_cast<size_t>(i - begin);
      bytes[i] = static_cast<uint8_t>(words[within / 4] >> (8 * (within % 4)));
    }
  }
}

}  // namespace

SyntheticSource::SyntheticSource(const SyntheticOptions& options) : options_(options) {
  check(options.size >= 1, "synthetic", "samples: expected 1 or more, got ", options.size);
  check(options.classes >= 1, "synthetic", "classes: expected 1 or more, got ", options.classes);
  check(options.shape.ndim() == 3 && options.shape.count() >= 1, "synthetic",
        "shape: expected [channels, height, width], got ", options.shape);
  spec_ = {"synthetic", options.shape, DType::kU8, options.classes};
  const int64_t pattern_bytes = options.shape[0] * kCells * kCells;
  patterns_.resize(static_cast<size_t>(options.classes * pattern_bytes));
  for (int64_t label = 0; label < options.classes; ++label) {
    const RandomStream random(options.seed, Purpose::kSynthetic, kPatternStream,
                              static_cast<uint64_t>(label));
    fill_with_noise(random, 0, patterns_.data() + label * pattern_bytes, pattern_bytes);
  }
}

void SyntheticSource::read(const SampleRequest& request) const {
  const int64_t index = request.index;
  check(index >= 0 && index < size(), "synthetic", "sample: expected 0 to ", size() - 1, ", got ", index);
  const RandomStream random(options_.seed, Purpose::kSynthetic, stream_of(options_.split),
                            static_cast<uint64_t>(index));
  const int64_t label = random.below(kLabelPosition, static_cast<uint32_t>(options_.classes));
  auto* pixel = reinterpret_cast<uint8_t*>(request.input);
  fill_with_noise(random, kFirstNoiseBlock, pixel, spec_.nbytes());
  const int64_t channels = spec_.shape[0];
  const int64_t height = spec_.shape[1];
  const int64_t width = spec_.shape[2];
  for (int64_t row = 0; row < channels * height; ++row) {
    const int64_t channel = row / height;
    const int64_t cell_row = row % height * kCells / height;
    const uint8_t* cells = patterns_.data() + ((label * channels + channel) * kCells + cell_row) * kCells;
    for (int64_t column = 0; column < width; ++column, ++pixel) {
      *pixel = static_cast<uint8_t>((*pixel + cells[column * kCells / width]) / 2);
    }
  }
  request.set_label(label);
}

}  // namespace lockstep::data

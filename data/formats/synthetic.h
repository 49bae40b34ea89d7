// Images made up on demand: nothing to install, any size, and labels that a model can learn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/source.h"

namespace lockstep::data {

struct SyntheticOptions {
  int64_t size = 1024;  ///< samples
  Shape shape{1, 28, 28};
  int64_t classes = 10;
  uint64_t seed = 0;
  /// Both splits show the same classes in different samples.
  Split split = Split::kTrain;
};

/// u8 images: the mean of the class's pattern, coarse enough to survive a crop, and of noise. Everything is a
/// pure function of the options and the index.
class SyntheticSource final : public DataSource {
 public:
  /// Throws InvalidArgument unless size, extents and classes are at least 1.
  explicit SyntheticSource(const SyntheticOptions& options);

  int64_t size() const override { return options_.size; }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override;

 private:
  SyntheticOptions options_;
  SampleSpec spec_;
  std::vector<uint8_t> patterns_;  ///< [classes, channels, kCells, kCells]
};

}  // namespace lockstep::data

// The sources that a configuration can name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/source.h"

namespace lockstep::data {

/// What to open. A source ignores the options that are not about it.
struct SourceOptions {
  std::string name = {};
  std::string path = {};  ///< of a source on disk; empty: its usual place, for those that have one
  Split split = Split::kTrain;
  int64_t classes = 0;  ///< 0: the source's own number
  // Of pictures with different sizes only: what they become, a square of so many pixels and channels (1 or
  // 3).
  int64_t image_size = 224;
  int64_t image_channels = 3;
  // Of tokens only:
  int64_t sequence_length = 256;
  // Of "synthetic" only:
  int64_t size = 1024;
  Shape shape{1, 28, 28};
  uint64_t seed = 0;
};

/// Throws InvalidArgument listing the known names when `options.name` is none, DataError when the data is
/// missing or wrong.
std::unique_ptr<DataSource> open_source(const SourceOptions& options);

struct SourceDescription {
  std::string name;
  std::string description;  ///< one line for people
};
std::vector<SourceDescription> list_sources();

}  // namespace lockstep::data

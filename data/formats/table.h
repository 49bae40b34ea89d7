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

struct SourceRow {
  const char* name;
  std::unique_ptr<DataSource> (*open)(const SourceOptions& options);
};

/// Those of this library, then the program's own.
std::vector<std::string> source_names(const std::vector<SourceRow>& own = {});

/// Throws ConfigError listing the known names when `options.name` is none, DataError when the data is missing
/// or wrong.
std::unique_ptr<DataSource> open_source(const SourceOptions& options, const std::vector<SourceRow>& own = {});

}  // namespace lockstep::data

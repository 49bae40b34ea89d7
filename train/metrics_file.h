// Reading metrics.jsonl, see metrics.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::train {

struct MetricsLine {
  int64_t step = 0;
  nlohmann::ordered_json fields;  ///< an object, with "step"
  uint64_t end = 0;               ///< offset in the file of the byte after the line
};

/// Throws DataError naming file and line. What follows the last line's end is not read: it was being written
/// when its process was killed.
std::vector<MetricsLine> read_metrics(const std::string& path);

}  // namespace lockstep::train

// Scaling over ranks: what is compared, what a run measured, and the table of it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/metrics_file.h"

namespace lockstep::launcher {

enum class ScalingMode {
  kWeak,   ///< the work of a step grows with the ranks, that of each rank stays
  kStrong  ///< the work of a step stays, and is divided among the ranks
};
const char* name_of(ScalingMode mode);

/// One training to be measured.
struct ScalingCase {
  int ranks = 0;
  int64_t global_batch = 0;
  auto operator<=>(const ScalingCase&) const = default;
};

/// `batch` is a step's, of one rank in weak scaling, of all ranks together in strong scaling.
ScalingCase scaling_case(ScalingMode mode, int ranks, int64_t batch);

/// Where a step's time went: the fields of metrics.jsonl that add up to it.
inline constexpr std::array kPhases{"data_seconds",          "forward_seconds",   "backward_seconds",
                                    "communication_seconds", "optimizer_seconds", "other_seconds"};

struct RunFigures {
  double samples_per_second = 0;                ///< of all ranks together
  std::array<double, kPhases.size()> phases{};  ///< seconds of rank 0 per step
  double step_seconds() const;                  ///< their sum
  int64_t peak_memory = 0;                      ///< bytes of rank 0
};

/// Of the steps after the first `warmup`. Throws DataError when there are none in the lines of the metrics.
RunFigures figures_of(const std::vector<train::MetricsLine>& lines, int64_t warmup);

/// A case, measured several times.
struct ScalingRow {
  ScalingCase what;
  RunFigures middle;      ///< of the run of median speed; of an even number the slower of the two
  double least = 0;       ///< samples per second of the slowest run
  double greatest = 0;    ///< and of the fastest
  double efficiency = 0;  ///< samples per second per rank, as a share of the first row's
};

using ScalingRuns = std::map<ScalingCase, std::vector<RunFigures>>;

/// A row for each case, which must have been run; the first is what the others are compared with.
std::vector<ScalingRow> scaling_rows(const std::vector<ScalingCase>& cases, const ScalingRuns& runs);

struct ScalingSeries {
  ScalingMode mode = ScalingMode::kWeak;
  std::vector<ScalingRow> rows;
};

/// Markdown that can be read as it is. Where `threads` per rank need more than `cores`, the row is marked.
std::string scaling_table(const ScalingSeries& series, int threads, int cores);

}  // namespace lockstep::launcher

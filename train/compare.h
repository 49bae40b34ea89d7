// Whether two runs did the same, and where they first did not.
#pragma once

#include <string>

namespace lockstep::train {

struct RunComparison {
  bool equal = false;  ///< both made the same steps, and no value that should be equal differs
  std::string text;    ///< for people: what differs first, and up to where the runs agree
};

/// Compares the metrics of two run directories bit by bit, step by step: losses, metrics, learning rates,
/// counts, evaluations and weights_hash; where the latter differ, the tensors are named. Times and rates are
/// not compared. Throws DataError when the metrics of one cannot be read.
RunComparison compare_runs(const std::string& run_a, const std::string& run_b);

}  // namespace lockstep::train

// Which evaluation was the best, and whether it is time to stop because none is better any more.
#pragma once

#include <cstdint>

#include "proto/checkpoint.pb.h"

namespace lockstep::train {

struct BestSoFarOptions {
  bool higher_is_better = false;
  double min_improvement = 0;  ///< a change that is not more counts as none
  int64_t patience = 0;        ///< evaluations without improvement that end the run; 0: no number does
};

/// All ranks give it the same reduced values and come to the same decisions.
class BestSoFar {
 public:
  explicit BestSoFar(const BestSoFarOptions& options) : options_(options) {}

  /// Whether this is the best value so far; NaN never is.
  bool update(double value, int64_t step);
  /// The patience is used up.
  bool exhausted() const { return options_.patience > 0 && best_.since() >= options_.patience; }
  bool known() const { return best_.has_value(); }  ///< whether there was a best value
  double value() const { return best_.value(); }
  int64_t step() const { return best_.step(); }

  const CheckpointState::Best& state() const { return best_; }
  void restore(const CheckpointState::Best& state) { best_ = state; }

 private:
  BestSoFarOptions options_;
  CheckpointState::Best best_;
};

}  // namespace lockstep::train

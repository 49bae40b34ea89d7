// The factor that losses are multiplied by before backward, so that small gradients keep their bits where
// they are computed or sent in few of them (Micikevicius et al. 2018, "Mixed Precision Training",
// section 3.2: scale the loss, unscale the gradient, skip the update of a step whose gradient overflowed).
// Dynamic: the scale doubles after a number of clean steps and halves where a gradient is not finite, so that
// it follows the gradients. Powers of two change no bit of a gradient that neither over- nor underflows.
//
// Decisions alone, without gradients or communication: ranks that are told the same decide the same.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::parallel {

struct LossScalerOptions {
  bool dynamic = false;         ///< false: the scale stays, and what is not finite ends the run
  double initial = 1;           ///< a power of two from floor to cap, where dynamic
  int64_t growth_interval = 1;  ///< clean steps in a row that double the scale
  double floor = 1;             ///< powers of two that the scale never leaves
  double cap = 1;
  int64_t most_skips_in_a_row = 1;  ///< so many skipped steps in a row are a collapse
};

/// What a checkpoint holds.
struct LossScalerState {
  double scale = 1;
  int64_t clean_steps = 0;  ///< in a row, since the scale changed last
  int64_t skips_in_a_row = 0;
  int64_t skipped_steps = 0;  ///< since the start of the run
  bool operator==(const LossScalerState&) const = default;
};

/// The number with all its digits, "16777216".
std::string scale_text(double scale);

class LossScaler {
 public:
  enum class Verdict {
    kTake,      ///< the step counts
    kSkip,      ///< the step must leave everything as it was
    kCollapse,  ///< the same, and no smaller scale will help: the run has to end
  };

  /// Throws InvalidArgument when a dynamic scale's floor, cap or initial value is no power of two, or they
  /// are not in order, or an interval is not positive.
  explicit LossScaler(const LossScalerOptions& options);

  /// What the loss of the next step is multiplied by.
  double scale() const { return state_.scale; }
  bool dynamic() const { return options_.dynamic; }

  /// Ends a step: whether any rank, or the sum, had something that is not finite.
  Verdict update(bool found_nonfinite);

  const LossScalerState& state() const { return state_; }
  /// Goes on from a state, within floor and cap; a scale that is not dynamic stays its own.
  void restore(const LossScalerState& state);

 private:
  Verdict skip();

  LossScalerOptions options_;
  LossScalerState state_;
};

}  // namespace lockstep::parallel

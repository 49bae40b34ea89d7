// Loss scaling in a run: its settings, its part of a checkpoint, and what a run says about steps whose loss
// or gradient is not finite. What happens in such a step is docs/loss_scaling.md.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/finite.h"
#include "parallel/loss_scaler.h"
#include "proto/checkpoint.pb.h"
#include "proto/train_config.pb.h"

namespace lockstep::train {

/// Whether losses are scaled at all, so that metrics show it.
bool scales_losses(const TrainConfig& config);

parallel::LossScalerOptions loss_scaler_options(const TrainConfig& config);

CheckpointState::LossScaler to_proto(const parallel::LossScalerState& state);
/// What a resumed run goes on with: the checkpoint's counts, and its scale unless `loss_scale` has changed.
parallel::LossScalerState resumed_loss_scaler(const CheckpointState& saved, const TrainConfig& config);

/// A step whose loss or gradient is not finite.
struct BadStep {
  int64_t step = 0;            ///< counted from 1
  double loss = 0;             ///< mean over all ranks
  std::string parameter = {};  ///< the first whose gradient is not finite; empty: none
  std::string place = {};      ///< "on rank 3"
};

/// "step 5: non-finite gradient of fc.weight on rank 3; step skipped, loss scale 65536 -> 32768 (1 skip in a
/// row)".
std::string skip_text(const BadStep& bad, double scale_before, const parallel::LossScalerState& after);

/// Why the run ends at such a step. `weights` is the first parameter that is not finite itself, with its
/// place; empty: none.
std::string collapse_text(const BadStep& bad, const TrainConfig& config,
                          const parallel::LossScalerState& after, const std::string& weights);

}  // namespace lockstep::train

// The folder of a run (--output): config.textproto, metrics.jsonl, model.safetensors, checkpoints/,
// train.log.
#pragma once

#include <string>

#include "proto/train_config.pb.h"

namespace lockstep::train {

/// Prepares the folder for a run that starts or goes on, and returns the checkpoint to go on from, or "" to
/// start anew. `resume` is
///   ""        a new run: the folder must not hold one already (ConfigError otherwise);
///   "latest"  the newest undamaged checkpoint of this folder, a new start where there is none; damaged ones
///   are reported; a path    a checkpoint, or a run's folder, of which the newest one is taken; DataError
///   where there is none.
/// Writes config.textproto. Called by one rank.
std::string open_run_directory(const std::string& folder, const std::string& resume,
                               const TrainConfig& config);

/// A name for a new run that is not taken: "runs/fashion_mnist-20260131-120000".
std::string new_run_directory(const std::string& recipe);

}  // namespace lockstep::train

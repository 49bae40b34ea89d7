// How a run begins: anew, or from a checkpoint.
#pragma once

#include <memory>
#include <string>

#include "proto/train_config.pb.h"
#include "train/run_directory.h"

namespace lockstep::train {

struct OpenedRun {
  std::string checkpoint;         ///< to go on from; "": start anew
  std::unique_ptr<RunLock> lock;  ///< of the run directory
};

/// Prepares the run directory `root`: takes its lock, lets the log go to its train.log as well, and writes
/// config.textproto. `resume` is
///   ""        a new run: the directory must not hold one (ConfigError otherwise);
///   "latest"  the newest undamaged checkpoint of this directory, a new start where there is none;
///   a path    see find_resume_point(); the directory must be new, or the run that the checkpoint belongs to.
/// Damaged checkpoints that are passed over are reported. Called by one rank.
OpenedRun open_run(const std::string& root, const std::string& resume, const TrainConfig& config);

/// A name for a new run that is not taken: "runs/fashion_mnist-20260131-120000".
std::string new_run_name(const std::string& recipe);

}  // namespace lockstep::train

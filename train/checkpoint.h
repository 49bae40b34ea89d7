// Checkpoints: a folder "step-00001234" with model.safetensors, optimizer.safetensors, state.pb, in some runs
// average.safetensors and best.safetensors, and manifest.json, which holds the others' sizes and XXH3 hashes.
// It gets that name only when it is complete and on the disk, so a process killed at any moment leaves all
// earlier checkpoints as they were. One process writes to a folder of checkpoints (rank 0); any may read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/checkpoint.pb.h"
#include "runtime/parameter.h"
#include "train/files.h"

namespace lockstep::train {

struct Checkpoint {
  std::vector<NamedTensor> model;
  std::vector<NamedTensor> optimizer;
  std::vector<NamedTensor> average;  ///< of the weights, see weight_average.h; empty: the run keeps none
  /// The file of the best weights so far, of which a checkpoint holds a copy; "": the run keeps none.
  std::string best;
  CheckpointState state;  ///< state.step() names the folder; format_version and build are set by saving
};

struct SaveOptions {
  int keep = 3;  ///< how many checkpoints stay, the new one included; at least 1
  /// An error that may pass (FileError::transient) is tried again so often, after pauses that double each
  /// time.
  int attempts = 4;
  std::chrono::milliseconds first_pause{250};
  FileOperations files = system_files();
};

/// Writes a checkpoint into `folder`, which is created if need be, and returns its path. After that, and only
/// after that, removes older ones beyond `keep`, and those of later steps: they belong to a run that was
/// given up when an earlier checkpoint was resumed. Also removes what killed saves left behind. Throws Error
/// naming step, reason and what remains.
std::string save_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                            const SaveOptions& options = {});

struct FoundCheckpoint {
  std::string path;
  int64_t step = 0;
};

/// The complete checkpoints of a folder by their names, oldest first; none when there is no such folder.
std::vector<FoundCheckpoint> list_checkpoints(const std::string& folder);

/// Throws DataError naming file and fault unless all files are there with the sizes and hashes of the
/// manifest.
void verify_checkpoint(const std::string& path);

struct CheckpointSearch {
  std::optional<FoundCheckpoint> newest;  ///< that is undamaged
  std::vector<std::string> damaged;       ///< what is wrong with those that are newer than it, newest first
};

/// Verifies from the newest on until one is undamaged.
CheckpointSearch find_newest_checkpoint(const std::string& folder);

/// Verifies and reads. Throws DataError naming the fault, also for a format newer than this program's.
Checkpoint load_checkpoint(const std::string& path);

}  // namespace lockstep::train

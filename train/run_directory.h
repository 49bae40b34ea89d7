// The folder that holds everything of one run.
#pragma once

#include <string>
#include <vector>

namespace lockstep::train {

struct RunDirectory {
  std::string root;

  std::string config() const { return root + "/config.textproto"; }  ///< resolved
  std::string metrics() const { return root + "/metrics.jsonl"; }
  std::string model() const { return root + "/model.safetensors"; }  ///< the final weights
  std::string checkpoints() const { return root + "/checkpoints"; }
  std::string events() const { return root + "/events"; }  ///< for TensorBoard
  std::string log() const { return root + "/train.log"; }
};

/// Makes the folder; it may exist, and hold a run that is to go on. Throws ConfigError when it cannot be
/// made.
RunDirectory make_run_directory(const std::string& root);

/// Makes the folder for a new run. Throws ConfigError when it holds a run already, which would be mixed with
/// the new one.
RunDirectory create_run_directory(const std::string& root);

struct ResumePoint {
  std::string checkpoint;            ///< path of an undamaged one
  std::vector<std::string> damaged;  ///< what is wrong with newer ones that were passed over
};

/// The checkpoint that `place` means: itself, or the newest undamaged one of a run directory or of a folder
/// of checkpoints. Throws DataError when there is none, with what is wrong with each.
ResumePoint find_resume_point(const std::string& place);

}  // namespace lockstep::train

// The folder that holds everything of one run.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "train/files.h"

namespace lockstep::train {

struct RunDirectory {
  std::string root;

  std::string config() const { return root + "/config.textproto"; }  ///< resolved
  std::string metrics() const { return root + "/metrics.jsonl"; }
  std::string model() const { return root + "/model.safetensors"; }    ///< the final weights
  std::string best() const { return root + "/best.safetensors"; }      ///< the best evaluation's weights
  std::string parameters() const { return root + "/parameters.txt"; }  ///< which take decay, and more
  std::string checkpoints() const { return root + "/checkpoints"; }
  std::string events() const { return root + "/events"; }      ///< for TensorBoard
  std::string curves() const { return root + "/curves.png"; }  ///< beside it the same as .svg
  std::string log() const { return root + "/train.log"; }
};

/// Makes the folder; it may exist, and hold a run that is to go on. Throws ConfigError when it cannot be
/// made.
RunDirectory make_run_directory(const std::string& root);

/// Throws ConfigError when the folder holds a run already, which a new one would be mixed with.
void check_holds_no_run(const RunDirectory& run);

/// While it lives, no other process can have one of the same folder, so two runs cannot write into it. It
/// ends with its process, however that ends, and leaves nothing on the disk.
class RunLock {
 public:
  /// Waits for up to `patience`, since a run that was killed may take a moment to end. Throws ConfigError
  /// when the folder is still in use then. A file system without locks gives one at once.
  explicit RunLock(const std::string& root, std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  FileDescriptor folder_;
};

struct ResumePoint {
  std::string checkpoint;            ///< path of an undamaged one
  std::vector<std::string> damaged;  ///< what is wrong with newer ones that were passed over
};

/// The checkpoint that `place` means: itself, or the newest undamaged one of a run directory or of a folder
/// of checkpoints. Throws DataError when there is none, with what is wrong with each.
ResumePoint find_resume_point(const std::string& place);

}  // namespace lockstep::train

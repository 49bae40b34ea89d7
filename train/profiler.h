// Profiles some steps of a run: `train --profile FILE`. docs/profiling.md shows how to read the result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "runtime/profile.h"
#include "train/profile_report.h"

namespace lockstep::train {

struct ProfileOptions {
  std::string file;    ///< the same on all ranks; "": no profile
  int64_t skip = 3;    ///< steps before, while caches fill
  int64_t steps = 10;  ///< to profile
};

/// All ranks make the same calls, at the same steps. Nothing that it does changes what the run computes.
/// Outlives every thread that records. Without a file all calls return at once.
class Profiler {
 public:
  Profiler(const ProfileOptions& options, comm::Communicator& communicator);

  /// For Scopes; null without a profile.
  profile::Recorder* recorder() { return options_.file.empty() ? nullptr : &recorder_; }
  /// Collective. Throws ConfigError when there is no place for the file.
  void check_place();
  void begin_step();
  /// With the last of the steps it writes the file; then it is collective. `threads` are those of a rank.
  void end_step(int threads);
  /// Collective. At the end of the run: writes the file if the run was too short to do it before, and tells
  /// rank 0's log the figures.
  void finish(int threads);

 private:
  void write(int threads);

  ProfileOptions options_;
  comm::Communicator& communicator_;
  profile::Recorder recorder_;
  int64_t steps_ = 0;  ///< seen so far
  bool written_ = false;
  std::vector<std::string> tables_;  ///< rank 0's
};

}  // namespace lockstep::train

// Runs another program and waits for it, but not for ever.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace lockstep::train {

struct ChildOutcome {
  bool succeeded = false;  ///< it ended with status 0
  std::string problem;     ///< else why not, in a few words: "not found", "status 1: <its first line>"
};

/// Runs `command` (the program, looked up in PATH, then its arguments) in `folder` until it ends or
/// `deadline` has passed; then it is killed. It has no input, none of this process's files and environment,
/// and all signals as usual. Never throws: what goes wrong is in the outcome.
ChildOutcome run_child(const std::vector<std::string>& command, const std::string& folder,
                       std::chrono::milliseconds deadline);

}  // namespace lockstep::train

// Runs another program and waits for it, but not for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace lockstep::train {

struct ChildOptions {
  std::string folder = ".";  ///< that it runs in
  std::chrono::milliseconds deadline = std::chrono::seconds(30);
  /// From asking it to end to killing it. mpirun gives its ranks two seconds before it kills them.
  std::chrono::milliseconds end_patience = std::chrono::seconds(10);
  /// All that it has, "NAME=value".
  std::vector<std::string> environment = {"LC_ALL=C.UTF-8"};
  /// A new file that takes what it prints, errors included; empty: thrown away.
  std::string output = {};
  /// May be null; once it is true, the child is ended.
  const std::atomic<bool>* stop = nullptr;
};

struct ChildOutcome {
  bool succeeded = false;  ///< it ended with status 0
  bool stopped = false;    ///< it was ended because of ChildOptions::stop
  /// Unless it succeeded why not, in a few words: "not found", "status 1: <its first error line>"; without
  /// that line where `output` has it.
  std::string problem;
};

/// Runs `command` (the program, looked up in PATH, then its arguments) until it ends, the deadline has passed
/// or it is to stop; then it is asked to end (SIGTERM) and, if it does not, killed. It has no input, none of
/// this process's files, all signals as usual, and is out of reach of the terminal's Ctrl-C: who wants to
/// pass that on sets `stop`. Never throws: what goes wrong is in the outcome.
ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options);

}  // namespace lockstep::train

// Ranks as threads of the test.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "comm/host/host_communicator.h"

namespace lockstep::test {

struct RunOptions {
  /// `busy_threads` is set to the number of ranks if it is 1.
  comm::HostOptions host;
  /// Above 1: ranks n * ranks_per_node, ... are said to be on one machine, and share memory.
  int ranks_per_node = 1;
  /// After this time the process ends, naming for each rank that is not back what it waits for.
  std::chrono::seconds watchdog{60};
};

/// Runs body(communicator) on `ranks` threads, each with its own communicator. Throws Error("rank N: ...")
/// for the first rank, in rank order, whose body threw; a rank that throws ends the waits of all others.
/// Bodies run on several threads at once, where only EXPECT_ macros of GoogleTest are safe.
void run_ranks(int ranks, const std::function<void(comm::Communicator&)>& body,
               const RunOptions& options = {});

/// What each rank's body threw; an empty text for a rank that returned.
std::vector<std::string> run_failing_ranks(int ranks, const std::function<void(comm::Communicator&)>& body,
                                           const RunOptions& options = {});

}  // namespace lockstep::test

// Signals, turned into flags that the trainer reduces over all ranks, so that all act at the same step.
#pragma once

#include <atomic>
#include <thread>

#include "train/requests.h"

namespace lockstep::launcher {

/// Blocks the signals that SignalThread reads. Before any other thread starts (MPI's included), since threads
/// inherit it.
void block_signals();

/// Reads signals until it is destroyed: SIGUSR1 asks for a checkpoint, SIGUSR2 for a checkpoint and the end
/// of the run, and so do SIGTERM and SIGINT. Under mpirun SIGCONT does too: there it is the first notice of
/// the end, one second ahead of SIGTERM. A second SIGTERM or SIGINT ends the process at once with status 128
/// + signal.
class SignalThread {
 public:
  /// `reaction` is what the log says that the process does about the first of them.
  SignalThread(train::Requests& requests, bool under_mpirun,
               const char* reaction = "stopping after this step");
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  void read_signals();

  train::Requests& requests_;
  bool under_mpirun_;
  const char* reaction_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace lockstep::launcher

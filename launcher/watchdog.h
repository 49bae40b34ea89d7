// A deadline for calls that cannot have one of their own, such as MPI_Init.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep::launcher {

/// Ends the process with `exit_status` and a message naming `what` unless it is destroyed in time.
class Watchdog {
 public:
  Watchdog(const std::string& what, std::chrono::milliseconds deadline, int exit_status);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace lockstep::launcher

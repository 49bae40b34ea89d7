#include "launcher/watchdog.h"

#include <unistd.h>

#include "runtime/log.h"
#include "runtime/threads.h"

namespace lockstep::launcher {

Watchdog::Watchdog(const std::string& what, std::chrono::milliseconds deadline, int exit_status) {
  thread_ = start_thread("watchdog", [=, this] {
    std::unique_lock lock(mutex_);
    if (finished_changed_.wait_for(lock, deadline, [this] { return finished_; })) return;
    log::error("[", what, "] not finished after ", static_cast<double>(deadline.count()) / 1000,
               " s; a rank did not start or cannot be reached");
    _exit(exit_status);
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  finished_changed_.notify_one();
  thread_.join();
}

}  // namespace lockstep::launcher

#include "comm/host/progress.h"

#include "comm/host/backoff.h"
#include "runtime/threads.h"

namespace lockstep::comm {

ProgressEngine::ProgressEngine(const Options& options) : options_(options) {
  if (options.own_thread) thread_ = start_thread("lockstep-comm", [this] { run_thread(); });
}

ProgressEngine::~ProgressEngine() {
  if (!has_thread()) return;
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    notify();
  }
  thread_.join();
}

std::unique_lock<std::mutex> ProgressEngine::lock() {
  callers_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock guard(mutex_);
  callers_.fetch_sub(1, std::memory_order_relaxed);
  return guard;
}

bool ProgressEngine::try_round() {
  if (unfinished_.load(std::memory_order_acquire) == 0) return false;
  const std::unique_lock guard(mutex_, std::try_to_lock);
  return guard.owns_lock() && advance_all();
}

bool ProgressEngine::advance_all() {
  bool progressed = false;
  for (OperationQueue* queue : queues_) progressed |= queue->advance();
  return progressed;
}

void ProgressEngine::run_thread() {
  Backoff backoff(options_.spins);
  for (;;) {
    {
      std::unique_lock guard(mutex_);
      work_arrived_.wait(guard, [&] { return stopping_ || unfinished_.load(std::memory_order_relaxed) > 0; });
      if (stopping_) return;
      if (advance_all()) backoff.reset();
    }
    backoff.pause();
    while (callers_.load(std::memory_order_relaxed) > 0) std::this_thread::yield();
  }
}

}  // namespace lockstep::comm

// Who makes the collectives of a rank go on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/host/operation_queue.h"

namespace lockstep::comm {

/// Holds the progress lock and the queues that it guards: those of a communicator and of all that were split
/// off it. Whoever holds the lock may use their transports.
class ProgressEngine {
 public:
  struct Options {
    bool own_thread = false;
    int spins = 0;  ///< see Backoff
  };
  explicit ProgressEngine(const Options& options);
  ~ProgressEngine();
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;

  /// The progress lock, for longer than one round of the thread.
  std::unique_lock<std::mutex> lock();

  // Under the lock:
  void attach(OperationQueue& queue) { queues_.push_back(&queue); }
  void detach(OperationQueue& queue) { std::erase(queues_, &queue); }
  void notify() { work_arrived_.notify_one(); }

  /// One bounded round over all queues, unless another thread is at it. True if anything happened.
  bool try_round();

  std::atomic<int>& unfinished() { return unfinished_; }
  int spins() const { return options_.spins; }
  bool has_thread() const { return thread_.joinable(); }

 private:
  bool advance_all();
  void run_thread();

  const Options options_;
  std::mutex mutex_;
  std::vector<OperationQueue*> queues_;
  std::atomic<int> unfinished_{0};  // operations of all queues
  std::atomic<int> callers_{0};     // that want the lock; the thread lets them go first
  std::condition_variable work_arrived_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lockstep::comm

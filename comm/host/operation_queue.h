// The collectives of one communicator, carried out in the order of the calls.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "comm/call.h"
#include "comm/host/call_check.h"
#include "comm/host/executor.h"
#include "comm/transport.h"
#include "comm/work.h"

namespace lockstep::comm {

struct Operation : WorkState {
  Call call;
  std::shared_ptr<const Plan> plan;
};

/// Guarded by the progress lock.
class OperationQueue {
 public:
  struct Options {
    size_t max_message_bytes = 0;
    bool compare_calls = false;  ///< before each collective, with the neighbour (one round trip more)
  };

  /// `unfinished` counts the operations of all queues that share a progress lock; `memory` is where the
  /// buffers of shared calls lie.
  OperationQueue(std::unique_ptr<Transport> transport, SharedMemory& memory, const Options& options,
                 std::atomic<int>& unfinished);
  /// Aborts the transport if operations are left.
  ~OperationQueue();

  /// Throws CommError when the communicator is dead.
  void push(std::shared_ptr<Operation> operation);

  /// One bounded round; never throws: an error fails all operations, and those to come. True if anything
  /// happened.
  bool advance();

  /// All operations end with a CommError of this text; so does every later push. Peers are told.
  void fail(const std::string& text);

  bool empty() const { return operations_.empty(); }
  bool is_front(const WorkState& work) const { return !empty() && operations_.front().get() == &work; }
  /// "rank 2: all_reduce #17 (...) at step 12, waiting for rank 3"; empty if nothing is being carried out.
  std::string describe_front() const;

  Transport& transport() { return *transport_; }
  const Traffic& traffic() const { return executor_.traffic(); }

 private:
  enum class Phase { kWaiting, kComparing, kRunning };
  void begin_front();
  bool advance_front();
  void finish_front();

  std::unique_ptr<Transport> transport_;
  Executor executor_;
  CallCheck call_check_;
  const bool compare_calls_;
  std::atomic<int>& unfinished_;
  std::deque<std::shared_ptr<Operation>> operations_;
  Phase phase_ = Phase::kWaiting;  // of the front
  std::exception_ptr error_;
};

}  // namespace lockstep::comm

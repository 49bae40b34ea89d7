#include "comm/host/operation_queue.h"

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

/// Different for neighbouring calls and for different kinds, so that a call that has no partner fails at its
/// deadline instead of taking another one's data.
int tag_base_of(const Call& call) {
  constexpr int kKinds = static_cast<int>(Collective::kBarrier) + 1;
  constexpr int kSequences = 8;
  static_assert(int64_t{kKinds} * kSequences * Plan::kTagEnd < Transport::kTagEnd,
                "the last tag is CallCheck's");
  const auto kind = static_cast<int>(call.kind);
  return (kind * kSequences + static_cast<int>(call.sequence % kSequences)) * Plan::kTagEnd;
}

std::string list_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

OperationQueue::OperationQueue(std::unique_ptr<Transport> transport, SharedMemory& memory,
                               const Options& options, std::atomic<int>& unfinished)
    : transport_(std::move(transport)),
      executor_(*transport_, memory, options.max_message_bytes),
      call_check_(*transport_),
      compare_calls_(options.compare_calls),
      unfinished_(unfinished) {}

OperationQueue::~OperationQueue() {
  if (!empty())
    fail("the communicator was destroyed before " + describe(operations_.front()->call) + " was finished");
}

void OperationQueue::push(std::shared_ptr<Operation> operation) {
  if (error_) std::rethrow_exception(error_);
  operations_.push_back(std::move(operation));
  unfinished_.fetch_add(1, std::memory_order_release);
}

bool OperationQueue::advance() {
  bool progressed = false;
  try {
    while (!empty()) {
      progressed |= advance_front();
      if (phase_ != Phase::kRunning || !executor_.finished()) break;
      finish_front();
    }
  } catch (const std::exception& error) {
    fail(to_text("[", name_of(operations_.front()->call.kind), "] ", describe_front(), ": ", error.what()));
  }
  return progressed;
}

void OperationQueue::begin_front() {
  const Operation& front = *operations_.front();
  executor_.start(*front.plan, front.call, tag_base_of(front.call));
  phase_ = Phase::kRunning;
}

bool OperationQueue::advance_front() {
  if (phase_ == Phase::kWaiting) {
    if (compare_calls_) {
      call_check_.start(operations_.front()->call);
      phase_ = Phase::kComparing;
    } else {
      begin_front();
    }
  }
  if (phase_ == Phase::kComparing) {
    if (!call_check_.advance()) return false;
    begin_front();
  }
  return executor_.advance();
}

void OperationQueue::finish_front() {
  phase_ = Phase::kWaiting;
  const std::shared_ptr<Operation> front = std::move(operations_.front());
  operations_.pop_front();
  unfinished_.fetch_sub(1, std::memory_order_release);
  front->end = std::chrono::steady_clock::now();
  front->done.store(true, std::memory_order_release);
}

void OperationQueue::fail(const std::string& text) {
  if (error_) return;  // the first cause counts
  error_ = std::make_exception_ptr(CommError(text));
  transport_->abort(text);
  for (const std::shared_ptr<Operation>& operation : operations_) {
    operation->error = error_;
    operation->done.store(true, std::memory_order_release);
  }
  unfinished_.fetch_sub(static_cast<int>(operations_.size()), std::memory_order_release);
  operations_.clear();
  phase_ = Phase::kWaiting;
}

std::string OperationQueue::describe_front() const {
  if (empty()) return "";
  std::string text = to_text("rank ", transport_->rank(), ": ", describe(operations_.front()->call));
  const std::vector<int> missing = phase_ == Phase::kComparing ? call_check_.missing_peers()
                                   : phase_ == Phase::kRunning ? executor_.missing_peers()
                                                               : std::vector<int>();
  if (!missing.empty()) text += ", waiting for " + list_ranks(missing);
  return text;
}

}  // namespace lockstep::comm

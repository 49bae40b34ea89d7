// A handle on a collective that was started.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>

namespace lockstep::comm {

class Communicator;

/// What a communicator and the handles on one of its collectives share. `done` is written last.
struct WorkState {
  std::atomic<bool> done{false};
  std::exception_ptr error;
  std::chrono::steady_clock::time_point end{};
};

/// Copies refer to the same collective. The communicator must outlive the calls made through it; dropping the
/// handle neither cancels nor waits. May be used from any thread.
class Work {
 public:
  Work() = default;  ///< finished
  Work(Communicator& communicator, std::shared_ptr<WorkState> state)
      : communicator_(&communicator), state_(std::move(state)) {}

  /// Makes one bounded round of progress if need be. A failed collective is done, too.
  bool done();
  /// Makes progress until this rank's part is finished: its results are in place and its buffers are free
  /// again. Throws CommError when the collective failed or its deadline passed.
  void wait();
  /// When it finished, for a profile; done() only. The epoch where there was nothing to do (one rank).
  std::chrono::steady_clock::time_point end() const;

 private:
  Communicator* communicator_ = nullptr;
  std::shared_ptr<WorkState> state_;
};

}  // namespace lockstep::comm

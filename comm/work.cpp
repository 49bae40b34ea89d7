#include "comm/work.h"

#include "comm/communicator.h"

namespace lockstep::comm {

bool Work::done() {
  if (!state_) return true;
  if (!state_->done.load(std::memory_order_acquire)) communicator_->make_progress();
  return state_->done.load(std::memory_order_acquire);
}

void Work::wait() {
  if (!state_) return;
  if (!state_->done.load(std::memory_order_acquire)) communicator_->wait_for(*state_);
  if (state_->error) std::rethrow_exception(state_->error);
}

std::chrono::steady_clock::time_point Work::end() const {
  return state_ ? state_->end : std::chrono::steady_clock::time_point{};
}

}  // namespace lockstep::comm

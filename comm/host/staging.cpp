#include "comm/host/staging.h"

#include <algorithm>

namespace lockstep::comm {

int Staging::take(size_t nbytes) {
  const auto fits = std::find_if(free_.rbegin(), free_.rend(),
                                 [&](int number) { return buffers_[number]->nbytes() >= nbytes; });
  int number = static_cast<int>(buffers_.size());
  if (fits != free_.rend()) {
    number = *fits;
    free_.erase(std::next(fits).base());
    return number;
  }
  if (free_.empty()) {
    buffers_.emplace_back();
  } else {  // a larger one instead of a small one, so that their number does not grow
    number = free_.back();
    free_.pop_back();
  }
  buffers_[number] = Storage::allocate(nbytes, kCpu);
  return number;
}

}  // namespace lockstep::comm

// Memory for messages that are not sent from where they lie, or received where they go.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/storage.h"

namespace lockstep::comm {

/// Buffers are used again, the one given back last first, since it is still in a cache. Not thread safe.
class Staging {
 public:
  /// The number of a buffer of at least `nbytes`, which nobody else has until it is given back.
  int take(size_t nbytes);
  void give_back(int number) { free_.push_back(number); }
  std::byte* data(int number) const { return static_cast<std::byte*>(buffers_[number]->data()); }

 private:
  std::vector<std::shared_ptr<Storage>> buffers_;
  std::vector<int> free_;
};

}  // namespace lockstep::comm

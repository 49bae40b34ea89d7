// What somebody outside the training loop wants from it. Set by any thread, read at every step, reduced over
// all ranks.
#pragma once

#include <atomic>

namespace lockstep::train {

struct Requests {
  std::atomic<bool> save{false};  ///< write a checkpoint and go on; the trainer clears it
  std::atomic<bool> stop{false};  ///< write a checkpoint and end the run
  /// The launcher is about to kill all ranks: waits for others end soon and say what they waited for.
  std::atomic<bool> ending{false};
};

}  // namespace lockstep::train

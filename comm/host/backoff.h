// How a thread waits for something that it must keep looking at.
#pragma once

#include <chrono>
#include <thread>

namespace lockstep::comm {

/// Looks again at once for a while, then lets others run, then sleeps 50 us at a time, so that a long wait
/// costs little.
class Backoff {
 public:
  /// `spins`: how often to look again at once; 0 where there are more threads than cores.
  explicit Backoff(int spins) : spins_(spins) {}

  void reset() { rounds_ = 0; }
  void pause() {
    ++rounds_;
    if (rounds_ <= spins_) return;
    if (rounds_ <= spins_ + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  static constexpr int kYields = 200;
  int spins_;
  int rounds_ = 0;
};

}  // namespace lockstep::comm

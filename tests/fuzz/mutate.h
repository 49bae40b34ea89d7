// Makes new inputs of old ones, the same for the same seed and iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rng.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {

/// Random numbers of one iteration, one after another.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t iteration) : stream_(seed, Purpose::kTest, iteration, 0) {}
  /// In [0, bound); 0 for a bound of 0.
  size_t below(size_t bound) {
    return bound == 0 ? 0 : stream_.below(position_++, static_cast<uint32_t>(bound));
  }
  bool one_in(size_t count) { return below(count) == 0; }
  char byte() { return static_cast<char>(below(256)); }
  template <class Choices>
  const auto& pick(const Choices& choices) {
    return choices[below(choices.size())];
  }

 private:
  RandomStream stream_;
  uint64_t position_ = 0;
};

/// `base` after one to eight changes: bits and bytes, numbers that are the limits of something, blocks that
/// are moved, repeated or gone, an end that is missing or that of `other`, and `words`. At most kLongestInput
/// bytes.
Bytes mutate(const Bytes& base, const Bytes& other, const std::vector<Bytes>& words, Draws& draws);

}  // namespace lockstep::fuzz

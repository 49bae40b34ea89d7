// Counter-based random numbers: every draw is a pure function of (seed, purpose, major, minor, position),
// never of rank, thread or order. Philox 4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lockstep {

/// One Philox 4x32-10 block.
std::array<uint32_t, 4> philox(const std::array<uint32_t, 4>& counter, const std::array<uint32_t, 2>& key);

/// What a stream is for; streams of different purposes are independent.
enum class Purpose : uint32_t { kInitialize = 1, kShuffle, kAugment, kDropout, kSynthetic, kTest, kFraming };

class RandomStream {
 public:
  /// `major` is an epoch or step, `minor` a sample, micro-batch or parameter.
  RandomStream(uint64_t seed, Purpose purpose, uint64_t major, uint64_t minor);

  std::array<uint32_t, 4> block(uint64_t index) const;  ///< positions 4*index .. 4*index+3
  /// words[i] = bits(4 * first_block + i), many blocks at a time: half the time of single ones.
  void fill(uint64_t first_block, std::span<uint32_t> words) const;
  uint32_t bits(uint64_t position) const { return block(position / 4)[position % 4]; }
  float uniform(uint64_t position) const { return to_unit(bits(position)); }  ///< in [0, 1), 24 bits
  uint32_t below(uint64_t position, uint32_t bound) const;                    ///< in [0, bound), bound > 0
  double normal(uint64_t position) const;  ///< standard normal; Box-Muller over the block of `position`

  static float to_unit(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }

 private:
  std::array<uint32_t, 2> key_;
  uint64_t minor_;
};

/// The random identity of one forward pass: (seed, step, micro-batch).
struct RandomKey {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint64_t micro_batch = 0;
};

}  // namespace lockstep

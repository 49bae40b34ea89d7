// Which sample comes at which position of an epoch: a pure function of (seed, epoch, position), the same on
// every rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace lockstep::data {

struct SamplerOptions {
  int64_t size = 0;  ///< samples of the source, 1 .. 2^32 - 1
  uint64_t seed = 0;
  /// A new uniform permutation for every epoch; otherwise position i is sample i, as evaluation wants it.
  bool shuffle = true;
};

/// Every epoch visits each sample exactly once. Thread safe.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options);

  int64_t size() const { return options_.size; }
  int64_t sample(int64_t epoch, int64_t position) const;
  /// The samples at positions first, first + 1, ..., one for each element of `samples`.
  void samples(int64_t epoch, int64_t first, std::span<int64_t> samples) const;

 private:
  using Permutation = std::vector<uint32_t>;
  struct CachedEpoch {
    int64_t epoch = -1;
    std::shared_ptr<const Permutation> order;
  };

  std::shared_ptr<const Permutation> order_of(int64_t epoch) const;
  Permutation permute(int64_t epoch) const;

  SamplerOptions options_;
  mutable std::mutex mutex_;
  /// The two epochs used last, newest first: a loader that reads ahead works on the end of one and the start
  /// of the next.
  mutable std::array<CachedEpoch, 2> cache_;
};

}  // namespace lockstep::data

#include "data/sampler.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace lockstep::data {

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  constexpr int64_t kMaxSize = std::numeric_limits<uint32_t>::max();
  check(options.size >= 1 && options.size <= kMaxSize, "Sampler", "number of samples: expected 1 to ",
        kMaxSize, ", got ", options.size);
}

int64_t Sampler::sample(int64_t epoch, int64_t position) const {
  int64_t result = 0;
  samples(epoch, position, std::span(&result, 1));
  return result;
}

void Sampler::samples(int64_t epoch, int64_t first, std::span<int64_t> samples) const {
  const auto count = static_cast<int64_t>(samples.size());
  check(epoch >= 0, "Sampler", "epoch: expected 0 or more, got ", epoch);
  check(first >= 0 && count <= size() && first <= size() - count, "Sampler", "positions ", first, " to ",
        first + count - 1, " are not all within an epoch of ", size(), " samples");
  if (!options_.shuffle) {
    std::iota(samples.begin(), samples.end(), first);
    return;
  }
  const auto order = order_of(epoch);
  std::copy_n(order->begin() + first, count, samples.begin());
}

std::shared_ptr<const Sampler::Permutation> Sampler::order_of(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  if (cache_[0].epoch != epoch) {
    std::swap(cache_[0], cache_[1]);
    if (cache_[0].epoch != epoch) cache_[0] = {epoch, std::make_shared<const Permutation>(permute(epoch))};
  }
  return cache_[0].order;
}

// Fisher and Yates' shuffle, in Durstenfeld's form (Communications of the ACM 7, 1964, algorithm 235).
Sampler::Permutation Sampler::permute(int64_t epoch) const {
  Permutation order(static_cast<size_t>(size()));
  std::iota(order.begin(), order.end(), 0U);
  const RandomStream random(options_.seed, Purpose::kShuffle, static_cast<uint64_t>(epoch), 0);
  for (uint32_t last = static_cast<uint32_t>(size()) - 1; last > 0; --last) {
    std::swap(order[last], order[random.below(last, last + 1)]);
  }
  return order;
}

}  // namespace lockstep::data

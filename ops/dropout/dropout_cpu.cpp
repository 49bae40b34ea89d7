#include <algorithm>

#include "ops/dropout/dropout_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

void draw_mask(const RandomStream& stream, uint32_t threshold, uint8_t* keep, int64_t count) {
  constexpr int64_t kDraws = 4;        // of one block of the generator
  constexpr int64_t kGrain = 1 << 11;  // blocks per thread at least
  parallel_for((count + kDraws - 1) / kDraws, kGrain, [=, &stream](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const auto draws = stream.block(static_cast<uint64_t>(block));
      const int64_t first = block * kDraws;
      const int64_t length = std::min(kDraws, count - first);
      for (int64_t i = 0; i < length; ++i)
        keep[first + i] = (draws[static_cast<size_t>(i)] >> 8) >= threshold;
    }
  });
}

void apply_mask(const float* x, const uint8_t* keep, float factor, float* y, int64_t count) {
  constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
  parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = x[i] * (static_cast<float>(keep[i]) * factor);
  });
}

}  // namespace lockstep::ops::cpu

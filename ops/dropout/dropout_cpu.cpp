#include <algorithm>
#include <array>
#include <span>

#include "ops/cpu/float_type.h"
#include "ops/dropout/dropout_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

void draw_mask(const RandomStream& stream, uint32_t threshold, uint8_t* keep, int64_t count) {
  constexpr int64_t kDrawsPerBlock = 4;
  constexpr int64_t kDraws = 256;     // drawn at a time
  constexpr int64_t kGrain = 1 << 5;  // of kDraws per thread at least
  parallel_for((count + kDraws - 1) / kDraws, kGrain, [=, &stream](int64_t begin, int64_t end) {
    std::array<uint32_t, kDraws> draws;
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = part * kDraws;
      const auto length = static_cast<size_t>(std::min(kDraws, count - first));
      stream.fill(static_cast<uint64_t>(first / kDrawsPerBlock), std::span(draws).first(length));
      for (size_t i = 0; i < length; ++i)
        keep[first + static_cast<int64_t>(i)] = (draws[i] >> 8) >= threshold;
    }
  });
}

void apply_mask(DType dtype, const void* x, const uint8_t* keep, float factor, void* y, int64_t count) {
  constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
  visit_float("dropout", dtype, [=]<class T>(T) {
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = static_cast<T>(static_cast<float>(from[i]) * (static_cast<float>(keep[i]) * factor));
      }
    });
  });
}

}  // namespace lockstep::ops::cpu

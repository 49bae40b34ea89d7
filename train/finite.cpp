#include "train/finite.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "runtime/threads.h"

namespace lockstep::train {
namespace {

/// Elements that one thread looks at least: some microseconds of work.
constexpr int64_t kGrain = 1 << 16;

/// Infinities and NaN have the greatest exponents, so a maximum over the bits finds them. It is one of
/// integers, which the compiler may take in any order, so it becomes vector code.
bool all_finite(const float* values, int64_t count) {
  constexpr int32_t kMagnitude = 0x7fffffff;
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    greatest = std::max(greatest, std::bit_cast<int32_t>(values[i]) & kMagnitude);
  }
  return greatest < kInfinity;
}

}  // namespace

bool all_finite(const Tensor& tensor) {
  const float* const values = tensor.data<float>();
  std::atomic<bool> finite = true;
  parallel_for(tensor.count(), kGrain, [&](int64_t begin, int64_t end) {
    if (!all_finite(values + begin, end - begin)) finite = false;
  });
  return finite;
}

}  // namespace lockstep::train

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ops/topk/topk_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 12;  // elements per thread at least

/// NaN before all numbers.
bool is_greater(float a, float b) {
  return a > b || (std::isnan(a) && !std::isnan(b));
}

}  // namespace

void topk(const float* x, int64_t k, const ReduceExtents& extents, float* values, int64_t* indices) {
  const auto [outer, reduced, inner] = extents;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, reduced));
  parallel_for(outer * inner, grain, [=, &extents](int64_t begin, int64_t end) {
    std::vector<int64_t> order(static_cast<size_t>(extents.reduced));
    for (int64_t line = begin; line < end; ++line) {
      const int64_t slice = line / extents.inner;
      const int64_t column = line % extents.inner;
      const float* first = x + slice * extents.reduced * extents.inner + column;
      const auto before = [&](int64_t i, int64_t j) {
        const float a = first[i * extents.inner];
        const float b = first[j * extents.inner];
        return is_greater(a, b) || (i < j && !is_greater(b, a));
      };
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t at = (slice * k + i) * extents.inner + column;
        indices[at] = order[static_cast<size_t>(i)];
        values[at] = first[indices[at] * extents.inner];
      }
    }
  });
}

}  // namespace lockstep::ops::cpu

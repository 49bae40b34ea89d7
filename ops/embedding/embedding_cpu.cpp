#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/embedding/embedding_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

/// Rows per thread at least.
int64_t grain_of(int64_t width) {
  return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(width, 1));
}

}  // namespace

void gather_rows(const float* table, const int64_t* indices, int64_t count, int64_t width, float* result) {
  parallel_for(count, grain_of(width), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(table + indices[i] * width, width, result + i * width);
  });
}

void add_rows(const float* rows, const int64_t* indices, int64_t count, int64_t width, float* sums,
              int64_t sum_rows) {
  // Threads share out the sums, so each needs the positions that belong to its part: sorted by index, equal
  // ones in their order.
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return indices[a] < indices[b]; });
  parallel_for(sum_rows, grain_of(width), [&](int64_t begin, int64_t end) {
    auto position = std::lower_bound(order.begin(), order.end(), begin,
                                     [&](int64_t i, int64_t row) { return indices[i] < row; });
    for (; position != order.end() && indices[*position] < end; ++position) {
      const float* row = rows + *position * width;
      float* sum = sums + indices[*position] * width;
      for (int64_t j = 0; j < width; ++j) sum[j] += row[j];
    }
  });
}

}  // namespace lockstep::ops::cpu

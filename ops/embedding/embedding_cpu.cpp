#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/cpu/float_type.h"
#include "ops/embedding/embedding_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

/// Rows per thread at least.
int64_t grain_of(int64_t width) {
  return std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(width, 1));
}

template <class T>
void add_typed_rows(const T* rows, const int64_t* indices, int64_t count, int64_t width, float* sums,
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
      const T* row = rows + *position * width;
      float* sum = sums + indices[*position] * width;
      for (int64_t j = 0; j < width; ++j) sum[j] += static_cast<float>(row[j]);
    }
  });
}

}  // namespace

void gather_rows(const float* table, const int64_t* indices, int64_t count, int64_t width, DType dtype,
                 void* result) {
  visit_float("embedding", dtype, [=]<class T>(T) {
    auto* to = static_cast<T*>(result);
    parallel_for(count, grain_of(width), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* row = table + indices[i] * width;
        for (int64_t j = 0; j < width; ++j) to[i * width + j] = static_cast<T>(row[j]);
      }
    });
  });
}

void add_rows(DType dtype, const void* rows, const int64_t* indices, int64_t count, int64_t width,
              float* sums, int64_t sum_rows) {
  visit_float("embedding", dtype, [=]<class T>(T) {
    add_typed_rows(static_cast<const T*>(rows), indices, count, width, sums, sum_rows);
  });
}

}  // namespace lockstep::ops::cpu

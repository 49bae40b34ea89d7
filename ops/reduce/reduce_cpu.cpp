#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "ops/cpu/float_type.h"
#include "ops/reduce/reduce_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
constexpr int64_t kBlock =
    4096;                        // elements that are added on their own, so that threads can share a long row
constexpr int64_t kStrip = 256;  // neighbouring sums that are carried together down the rows

int64_t grain_of(int64_t elements_per_item) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements_per_item));
}

template <class T>
double widen(T x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return double{static_cast<float>(x)};
  } else {
    return double{x};
  }
}

/// Element i is added to lane i mod 8; the lanes are added in pairs. The compiler keeps the lanes in vector
/// registers.
template <class T>
double sum_block(const T* x, int64_t count) {
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[static_cast<size_t>(lane)] += widen(x[i + lane]);
  }
  for (; i < count; ++i) lanes[static_cast<size_t>(i % kLanes)] += widen(x[i]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <class T>
void sum_rows(const T* x, double* y, int64_t rows, int64_t length) {
  const int64_t blocks = (length + kBlock - 1) / kBlock;
  std::vector<double> partial(static_cast<size_t>(rows * blocks));
  parallel_for(rows * blocks, grain_of(std::min(length, kBlock)), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t start = item % blocks * kBlock;
      partial[static_cast<size_t>(item)] =
          sum_block(x + item / blocks * length + start, std::min(kBlock, length - start));
    }
  });
  for (int64_t row = 0; row < rows; ++row) {
    y[row] = 0;
    for (int64_t block = 0; block < blocks; ++block)
      y[row] += partial[static_cast<size_t>(row * blocks + block)];
  }
}

template <class T>
void sum_columns(const T* x, double* y, const ReduceExtents& extents) {
  const int64_t reduced = extents.reduced;
  const int64_t inner = extents.inner;
  const int64_t strips = (inner + kStrip - 1) / kStrip;
  parallel_for(extents.outer * strips, grain_of(reduced * std::min(inner, kStrip)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t item = begin; item < end; ++item) {
                   const int64_t start = item % strips * kStrip;
                   const int64_t width = std::min(kStrip, inner - start);
                   const T* column = x + item / strips * reduced * inner + start;
                   std::array<double, kStrip> sums{};
                   for (int64_t row = 0; row < reduced; ++row, column += inner) {
                     for (int64_t i = 0; i < width; ++i) sums[static_cast<size_t>(i)] += widen(column[i]);
                   }
                   std::copy_n(sums.begin(), width, y + item / strips * inner + start);
                 }
               });
}

template <class T>
void sum_elements(const T* x, double* y, const ReduceExtents& extents) {
  if (extents.inner == 1) {
    sum_rows(x, y, extents.outer, extents.reduced);
  } else {
    sum_columns(x, y, extents);
  }
}

template <class T>
void max_elements(const T* x, T* y, int64_t* index, const ReduceExtents& extents) {
  const int64_t reduced = extents.reduced;
  const int64_t inner = extents.inner;
  parallel_for(extents.outer * inner, grain_of(reduced), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const T* column = x + item / inner * reduced * inner + item % inner;
      auto best = static_cast<float>(column[0]);
      int64_t best_row = 0;
      for (int64_t row = 1; row < reduced; ++row) {
        const auto value = static_cast<float>(column[row * inner]);
        if (value > best || (std::isnan(value) && !std::isnan(best))) {
          best = value;
          best_row = row;
        }
      }
      y[item] = static_cast<T>(best);
      index[item] = best_row;
    }
  });
}

}  // namespace

void sum_middle(DType dtype, const void* x, double* y, const ReduceExtents& extents) {
  if (dtype == DType::kF64) {
    sum_elements(static_cast<const double*>(x), y, extents);
  } else {
    visit_float("sum", dtype, [=]<class T>(T) { sum_elements(static_cast<const T*>(x), y, extents); });
  }
}

void divide_and_round(const double* x, double divisor, DType dtype, void* y, int64_t count) {
  visit_float("sum", dtype, [=]<class T>(T) {
    auto* results = static_cast<T*>(y);
    for (int64_t i = 0; i < count; ++i) results[i] = static_cast<T>(static_cast<float>(x[i] / divisor));
  });
}

void max_middle(DType dtype, const void* x, void* y, int64_t* index, const ReduceExtents& extents) {
  visit_float("max", dtype, [=]<class T>(T) {
    max_elements(static_cast<const T*>(x), static_cast<T*>(y), index, extents);
  });
}

void max_middle_gradient(DType dtype, const void* g, const int64_t* index, void* result,
                         const ReduceExtents& extents) {
  visit_float("max", dtype, [&]<class T>(T) {
    const auto* from = static_cast<const T*>(g);
    auto* to = static_cast<T*>(result);
    std::fill_n(to, extents.outer * extents.reduced * extents.inner, T{});
    for (int64_t item = 0; item < extents.outer * extents.inner; ++item) {
      to[(item / extents.inner * extents.reduced + index[item]) * extents.inner + item % extents.inner] =
          from[item];
    }
  });
}

}  // namespace lockstep::ops::cpu

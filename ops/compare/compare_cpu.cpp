#include <algorithm>
#include <type_traits>

#include "ops/compare/compare_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least

/// What is compared: f16 and bf16 as f32.
template <class T>
auto comparable(T value) {
  if constexpr (std::is_class_v<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T, class Holds>
void compare_row(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t count, Holds holds,
                 uint8_t* result) {
  if (a_stride == 1 && b_stride == 1) {  // on its own, since it becomes vector code
    for (int64_t i = 0; i < count; ++i) result[i] = holds(comparable(a[i]), comparable(b[i]));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    result[i] = holds(comparable(a[i * a_stride]), comparable(b[i * b_stride]));
  }
}

/// Rows are cut into chunks, so that threads can share one long row.
template <class T, class Holds>
void compare_elements(const BroadcastPlan& plan, const T* a, const T* b, Holds holds, uint8_t* result) {
  const int64_t inner = plan.inner_extent();
  if (inner == 0) return;
  const int last = plan.ndim - 1;
  const int64_t chunks = (inner + kGrain - 1) / kGrain;
  const int64_t grain = std::max<int64_t>(1, kGrain / inner);
  parallel_for(plan.outer_count() * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      int64_t rest = item / chunks;
      const int64_t start = item % chunks * kGrain;
      const int64_t to = item / chunks * inner + start;
      int64_t a_offset = start * plan.a_strides[last];
      int64_t b_offset = start * plan.b_strides[last];
      for (int dim = last; dim-- > 0; rest /= plan.extents[dim]) {
        a_offset += rest % plan.extents[dim] * plan.a_strides[dim];
        b_offset += rest % plan.extents[dim] * plan.b_strides[dim];
      }
      compare_row(a + a_offset, plan.a_strides[last], b + b_offset, plan.b_strides[last],
                  std::min(kGrain, inner - start), holds, result + to);
    }
  });
}

template <class T>
void compare_as(Comparison comparison, const BroadcastPlan& plan, const T* a, const T* b, uint8_t* result) {
  switch (comparison) {
    case Comparison::kEq:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x == y; }, result);
    case Comparison::kNe:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x != y; }, result);
    case Comparison::kLt:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x < y; }, result);
    case Comparison::kLe:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x <= y; }, result);
    case Comparison::kGt:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x > y; }, result);
    case Comparison::kGe:
      return compare_elements(
          plan, a, b, [](auto x, auto y) { return x >= y; }, result);
  }
}

}  // namespace

void compare(Comparison comparison, DType dtype, const BroadcastPlan& plan, const void* a, const void* b,
             uint8_t* result) {
  visit_dtype(dtype, [&]<class T>(T) {
    compare_as(comparison, plan, static_cast<const T*>(a), static_cast<const T*>(b), result);
  });
}

}  // namespace lockstep::ops::cpu

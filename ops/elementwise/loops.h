// CPU definitions of elementwise_kernels.h: loops without branches, which the compiler turns into vector
// code.
#pragma once

#include <algorithm>

#include "ops/elementwise/elementwise_kernels.h"
#include "ops/elementwise/functors.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

/// Elements that one thread handles at least; below that, starting the team costs more than it saves.
inline constexpr int64_t kElementwiseGrain = 1 << 14;

template <class Functor>
void Unary<Functor>::value(const Functor& functor, const float* x, float* y, int64_t count) {
  parallel_for(count, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = functor.value(x[i]);
  });
}

template <class Functor>
void Unary<Functor>::gradient(const Functor& functor, const float* g, const float* saved, float* result,
                              int64_t count) {
  parallel_for(count, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result[i] = functor.gradient(g[i], saved[i]);
  });
}

/// One innermost run; the strides that occur in practice get loops of their own.
template <class Functor>
void binary_run(const Functor& functor, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                float* y, int64_t count) {
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = functor.value(a[i], b[i]);
  } else if (a_stride == 1 && b_stride == 0) {
    const float repeated = *b;
    for (int64_t i = 0; i < count; ++i) y[i] = functor.value(a[i], repeated);
  } else if (a_stride == 0 && b_stride == 1) {
    const float repeated = *a;
    for (int64_t i = 0; i < count; ++i) y[i] = functor.value(repeated, b[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = functor.value(a[i * a_stride], b[i * b_stride]);
  }
}

template <class Functor>
void Binary<Functor>::value(const Functor& functor, const BroadcastPlan& plan, const float* a, const float* b,
                            float* y) {
  const int64_t inner = plan.inner_extent();
  const int last = plan.ndim - 1;
  const int64_t a_stride = plan.a_strides[last];
  const int64_t b_stride = plan.b_strides[last];
  if (plan.ndim == 1) {
    parallel_for(inner, kElementwiseGrain, [=](int64_t begin, int64_t end) {
      binary_run(functor, a + begin * a_stride, a_stride, b + begin * b_stride, b_stride, y + begin,
                 end - begin);
    });
    return;
  }
  const int64_t grain = std::max<int64_t>(1, kElementwiseGrain / std::max<int64_t>(1, inner));
  parallel_for(plan.outer_count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t a_offset = 0;
      int64_t b_offset = 0;
      for (int dim = last; dim-- > 0;) {
        const int64_t index = rest % plan.extents[dim];
        rest /= plan.extents[dim];
        a_offset += index * plan.a_strides[dim];
        b_offset += index * plan.b_strides[dim];
      }
      binary_run(functor, a + a_offset, a_stride, b + b_offset, b_stride, y + row * inner, inner);
    }
  });
}

}  // namespace lockstep::ops::cpu

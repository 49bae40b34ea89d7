// CPU definitions of elementwise_kernels.h: loops without branches, which the compiler turns into vector
// code.
#pragma once

#include <algorithm>

#include "ops/cpu/float_type.h"
#include "ops/elementwise/elementwise_kernels.h"
#include "ops/elementwise/functors.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

/// Elements that one thread handles at least; below that, starting the team costs more than it saves.
inline constexpr int64_t kElementwiseGrain = 1 << 14;

template <class Functor>
void Unary<Functor>::value(const Functor& functor, DType dtype, const void* x, void* y, int64_t count) {
  visit_float(Functor::kName, dtype, [=]<class T>(T) {
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    parallel_for(count, kElementwiseGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = static_cast<T>(functor.value(static_cast<float>(from[i])));
    });
  });
}

template <class Functor>
void Unary<Functor>::gradient(const Functor& functor, DType dtype, const void* g, const void* saved,
                              void* result, int64_t count) {
  visit_float(Functor::kName, dtype, [=]<class T>(T) {
    const auto* from = static_cast<const T*>(g);
    const auto* kept = static_cast<const T*>(saved);
    auto* to = static_cast<T*>(result);
    parallel_for(count, kElementwiseGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = static_cast<T>(functor.gradient(static_cast<float>(from[i]), static_cast<float>(kept[i])));
    });
  });
}

/// One innermost run; the strides that occur in practice get loops of their own.
template <class Functor, class T>
void binary_run(const Functor& functor, const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* y,
                int64_t count) {
  const auto value = [&functor](T left, T right) {
    return static_cast<T>(functor.value(static_cast<float>(left), static_cast<float>(right)));
  };
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = value(a[i], b[i]);
  } else if (a_stride == 1 && b_stride == 0) {
    const T repeated = *b;
    for (int64_t i = 0; i < count; ++i) y[i] = value(a[i], repeated);
  } else if (a_stride == 0 && b_stride == 1) {
    const T repeated = *a;
    for (int64_t i = 0; i < count; ++i) y[i] = value(repeated, b[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = value(a[i * a_stride], b[i * b_stride]);
  }
}

template <class Functor, class T>
void binary_values(const Functor& functor, const BroadcastPlan& plan, const T* a, const T* b, T* y) {
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

template <class Functor>
void Binary<Functor>::value(const Functor& functor, DType dtype, const BroadcastPlan& plan, const void* a,
                            const void* b, void* y) {
  visit_float(Functor::kName, dtype, [&]<class T>(T) {
    binary_values(functor, plan, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y));
  });
}

}  // namespace lockstep::ops::cpu

// CUDA definitions of elementwise_kernels.h.
#pragma once

#include "ops/cuda/launch.cuh"
#include "ops/elementwise/elementwise_kernels.h"
#include "ops/elementwise/functors.h"

namespace lockstep::ops::cuda {

template <class Functor>
__global__ void unary_value(Functor functor, const float* x, float* y, int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) y[i] = functor.value(x[i]);
}

template <class Functor>
__global__ void unary_gradient(Functor functor, const float* g, const float* saved, float* result,
                               int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) result[i] = functor.gradient(g[i], saved[i]);
}

template <class Functor>
__global__ void binary_value(Functor functor, BroadcastPlan plan, const float* a, const float* b, float* y,
                             int64_t count) {
  for (int64_t i = first_index(); i < count; i += index_step()) {
    int64_t rest = i;
    int64_t a_offset = 0;
    int64_t b_offset = 0;
    for (int dim = plan.ndim; dim-- > 0;) {
      const int64_t index = rest % plan.extents[dim];
      rest /= plan.extents[dim];
      a_offset += index * plan.a_strides[dim];
      b_offset += index * plan.b_strides[dim];
    }
    y[i] = functor.value(a[a_offset], b[b_offset]);
  }
}

template <class Functor>
void Unary<Functor>::value(const Functor& functor, const float* x, float* y, int64_t count) {
  if (count == 0) return;
  unary_value<<<block_count(count), kBlockThreads>>>(functor, x, y, count);
  check_launch(Functor::kName);
}

template <class Functor>
void Unary<Functor>::gradient(const Functor& functor, const float* g, const float* saved, float* result,
                              int64_t count) {
  if (count == 0) return;
  unary_gradient<<<block_count(count), kBlockThreads>>>(functor, g, saved, result, count);
  check_launch(Functor::kName);
}

template <class Functor>
void Binary<Functor>::value(const Functor& functor, const BroadcastPlan& plan, const float* a, const float* b,
                            float* y) {
  const int64_t count = plan.outer_count() * plan.inner_extent();
  if (count == 0) return;
  binary_value<<<block_count(count), kBlockThreads>>>(functor, plan, a, b, y, count);
  check_launch(Functor::kName);
}

}  // namespace lockstep::ops::cuda

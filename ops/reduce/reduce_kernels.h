// Reductions of the middle dimension of contiguous [outer, reduced, inner] memory to [outer, inner].
#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

struct ReduceExtents {
  int64_t outer = 1;
  int64_t reduced = 1;
  int64_t inner = 1;
};

/// T is float or double.
template <class T>
void sum_middle(const T* x, double* y, const ReduceExtents& extents);

/// y = x / divisor, rounded to f32.
void divide_and_round(const double* x, double divisor, float* y, int64_t count);

/// Also gives the index within the reduced dimension; extents.reduced > 0.
void max_middle(const float* x, float* y, int64_t* index, const ReduceExtents& extents);

/// Writes all of [outer, reduced, inner]: g where `index` points, 0 elsewhere.
void max_middle_gradient(const float* g, const int64_t* index, float* result, const ReduceExtents& extents);

}  // namespace lockstep::ops::cpu

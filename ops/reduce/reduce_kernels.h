// Reductions of the middle dimension of contiguous [outer, reduced, inner] memory to [outer, inner].
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace lockstep::ops::cpu {

struct ReduceExtents {
  int64_t outer = 1;
  int64_t reduced = 1;
  int64_t inner = 1;
};

// Operands are f32 or bf16 unless something else is said.

/// Also f64.
void sum_middle(DType dtype, const void* x, double* y, const ReduceExtents& extents);

/// y = x / divisor, rounded to f32 and from there to `dtype`.
void divide_and_round(const double* x, double divisor, DType dtype, void* y, int64_t count);

/// Also gives the index within the reduced dimension; extents.reduced > 0.
void max_middle(DType dtype, const void* x, void* y, int64_t* index, const ReduceExtents& extents);

/// Writes all of [outer, reduced, inner]: g where `index` points, 0 elsewhere.
void max_middle_gradient(DType dtype, const void* g, const int64_t* index, void* result,
                         const ReduceExtents& extents);

}  // namespace lockstep::ops::cpu

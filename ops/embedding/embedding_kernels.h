#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace lockstep::ops::cpu {

/// result[i] = table[indices[i]], for rows of `width` elements; the result is f32 or bf16.
void gather_rows(const float* table, const int64_t* indices, int64_t count, int64_t width, DType dtype,
                 void* result);

/// sums[indices[i]] += rows[i], f32 or bf16, for all i, in their order; sums is [sum_rows, width].
void add_rows(DType dtype, const void* rows, const int64_t* indices, int64_t count, int64_t width,
              float* sums, int64_t sum_rows);

}  // namespace lockstep::ops::cpu

#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

/// result[i] = table[indices[i]], for rows of `width` elements.
void gather_rows(const float* table, const int64_t* indices, int64_t count, int64_t width, float* result);

/// sums[indices[i]] += rows[i] for all i, in their order; sums is [sum_rows, width].
void add_rows(const float* rows, const int64_t* indices, int64_t count, int64_t width, float* sums,
              int64_t sum_rows);

}  // namespace lockstep::ops::cpu

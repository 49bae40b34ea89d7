#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

/// result[i] = table[indices[i]], for rows of `width` elements.
void gather_rows(const float* table, const int64_t* indices, int64_t count, int64_t width, float* result);

/// Fills sums [rows, width]: sums[r] = sum of rows[i] over all i with indices[i] = r, in the order of i.
void scatter_rows(const float* rows, const int64_t* indices, int64_t count, int64_t width, float* sums,
                  int64_t sum_rows);

}  // namespace lockstep::ops::cpu

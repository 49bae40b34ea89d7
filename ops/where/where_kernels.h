#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::ops::cpu {

/// Contiguous elements of `element_size` bytes (1, 2, 4 or 8): result[i] = condition[i] != 0 ? a[i] : b[i].
void where(const uint8_t* condition, const void* a, const void* b, int64_t count, size_t element_size,
           void* result);

/// result[i] = g[i] where (condition[i] != 0) == chosen, else zero.
void keep_where(const uint8_t* condition, bool chosen, const void* g, int64_t count, size_t element_size,
                void* result);

}  // namespace lockstep::ops::cpu

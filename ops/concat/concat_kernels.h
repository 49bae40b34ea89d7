#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

/// Rows of equal length, of which one begins every `pitch` bytes.
struct RowPitch {
  int64_t rows = 0;
  int64_t row_bytes = 0;
  int64_t pitch = 0;
};

/// Copies rows that lie one after another in `from` to `to`.
void place_rows(const void* from, void* to, const RowPitch& target);

}  // namespace lockstep::ops::cpu

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ops/concat/concat_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

void place_rows(const void* from, void* to, const RowPitch& target) {
  constexpr int64_t kGrain = 1 << 16;  // bytes per thread at least
  const auto [rows, row_bytes, pitch] = target;
  if (row_bytes == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* first = static_cast<std::byte*>(to);
  parallel_for(rows, std::max<int64_t>(1, kGrain / row_bytes),
               [=, bytes = row_bytes, step = pitch](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   std::memcpy(first + row * step, source + row * bytes, static_cast<size_t>(bytes));
                 }
               });
}

}  // namespace lockstep::ops::cpu

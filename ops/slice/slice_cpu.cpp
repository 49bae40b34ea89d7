#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/slice/slice_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 16;  // bytes per thread at least

/// The view as rows: `row_dims` outer dimensions, below them `row_count` elements at a distance of
/// `row_stride`, of which the view's innermost dimensions are merged where it walks through them without a
/// jump.
struct Rows {
  int row_dims = 0;
  int64_t row_count = 1;
  int64_t row_stride = 1;
};

Rows plan_rows(const Shape& shape, const Shape& strides) {
  Rows rows{.row_dims = shape.ndim()};
  if (rows.row_dims == 0) return rows;
  --rows.row_dims;
  rows.row_count = shape[rows.row_dims];
  rows.row_stride = strides[rows.row_dims];
  while (rows.row_dims > 0 && strides[rows.row_dims - 1] == rows.row_stride * rows.row_count) {
    --rows.row_dims;
    rows.row_count *= shape[rows.row_dims];
  }
  return rows;
}

void unpack_row(const std::byte* from, std::byte* to, const Rows& rows, size_t element_size) {
  if (rows.row_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(rows.row_count) * element_size);
    return;
  }
  const size_t step = static_cast<size_t>(rows.row_stride) * element_size;
  for (int64_t i = 0; i < rows.row_count; ++i, from += element_size, to += step) {
    std::memcpy(to, from, element_size);
  }
}

}  // namespace

void unpack(const void* from, const Shape& shape, const Shape& to_strides, size_t element_size, void* to) {
  if (shape.count() == 0) return;
  const Rows rows = plan_rows(shape, to_strides);
  const auto size = static_cast<int64_t>(element_size);
  const int64_t grain = std::max<int64_t>(1, kGrain / (rows.row_count * size));
  parallel_for(shape.count() / rows.row_count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t offset = 0;
      for (int dim = rows.row_dims; dim-- > 0; rest /= shape[dim])
        offset += rest % shape[dim] * to_strides[dim];
      unpack_row(static_cast<const std::byte*>(from) + row * rows.row_count * size,
                 static_cast<std::byte*>(to) + offset * size, rows, element_size);
    }
  });
}

}  // namespace lockstep::ops::cpu

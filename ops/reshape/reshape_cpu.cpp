#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/cpu/element_size.h"
#include "ops/reshape/reshape_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
constexpr int64_t kTile = 64;  // a tile of this many rows and columns of f32 stays in the first-level cache

/// The view as planes [rows, columns]: the columns are the innermost dimension of the result, the rows the
/// dimension that lies closest in memory, so that a tile of both reads and writes whole cache lines.
struct Planes {
  Shape outer_extents;
  Shape outer_strides;         // in the view
  Shape outer_result_strides;  // in the result
  int64_t rows = 1, row_stride = 0, row_result_stride = 0;
  int64_t columns = 1, column_stride = 1;
};

Planes plan_planes(const Shape& shape, const Shape& strides) {
  Planes planes;
  const Shape result_strides = row_major_strides(shape);
  const int last = shape.ndim() - 1;
  int row_dim = -1;
  for (int dim = 0; dim < last; ++dim) {
    if (shape[dim] > 1 && (row_dim < 0 || strides[dim] <= strides[row_dim])) row_dim = dim;
  }
  for (int dim = 0; dim < last; ++dim) {
    if (dim == row_dim) continue;
    planes.outer_extents.push_back(shape[dim]);
    planes.outer_strides.push_back(strides[dim]);
    planes.outer_result_strides.push_back(result_strides[dim]);
  }
  if (row_dim >= 0) {
    planes.rows = shape[row_dim];
    planes.row_stride = strides[row_dim];
    planes.row_result_stride = result_strides[row_dim];
  }
  if (last >= 0) {
    planes.columns = shape[last];
    planes.column_stride = strides[last];
  }
  return planes;
}

/// One tile of elements that do not lie next to each other along the columns: read along the rows and put
/// into order in a buffer, since the lines of a column, a power of two apart, say, may not fit the cache at
/// once.
template <class T>
void pack_tile(const Planes& planes, const T* from, T* to, int64_t rows, int64_t columns) {
  std::array<T, kTile * kTile> buffer;
  for (int64_t column = 0; column < columns; ++column) {
    const T* source = from + column * planes.column_stride;
    T* target = buffer.data() + column;
    if (rows == kTile && planes.row_stride == 1) {  // numbers that the compiler knows
      for (int64_t row = 0; row < kTile; ++row) target[row * kTile] = source[row];
    } else {
      for (int64_t row = 0; row < rows; ++row) target[row * kTile] = source[row * planes.row_stride];
    }
  }
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(buffer.data() + row * kTile, columns, to + row * planes.row_result_stride);
  }
}

template <class T>
void pack_rows(const Planes& planes, const T* from, T* to, int64_t first_row, int64_t last_row) {
  if (planes.column_stride == 0) {
    for (int64_t row = first_row; row < last_row; ++row) {
      std::fill_n(to + row * planes.row_result_stride, planes.columns, from[row * planes.row_stride]);
    }
    return;
  }
  if (planes.column_stride == 1) {
    for (int64_t row = first_row; row < last_row; ++row) {
      std::copy_n(from + row * planes.row_stride, planes.columns, to + row * planes.row_result_stride);
    }
    return;
  }
  for (int64_t column = 0; column < planes.columns; column += kTile) {
    pack_tile(planes, from + first_row * planes.row_stride + column * planes.column_stride,
              to + first_row * planes.row_result_stride + column, last_row - first_row,
              std::min(kTile, planes.columns - column));
  }
}

template <class T>
void pack_elements(const T* from, const Shape& shape, const Shape& strides, T* to) {
  const Planes planes = plan_planes(shape, strides);
  const int64_t bands = (planes.rows + kTile - 1) / kTile;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, kTile * planes.columns));
  parallel_for(planes.outer_extents.count() * bands, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      int64_t rest = item / bands;
      int64_t from_offset = 0;
      int64_t to_offset = 0;
      for (int dim = planes.outer_extents.ndim() - 1; dim >= 0; --dim) {
        const int64_t index = rest % planes.outer_extents[dim];
        rest /= planes.outer_extents[dim];
        from_offset += index * planes.outer_strides[dim];
        to_offset += index * planes.outer_result_strides[dim];
      }
      const int64_t first_row = item % bands * kTile;
      pack_rows(planes, from + from_offset, to + to_offset, first_row,
                std::min(planes.rows, first_row + kTile));
    }
  });
}

}  // namespace

void pack(const void* from, const Shape& shape, const Shape& strides, size_t element_size, void* to) {
  visit_element_size("pack", element_size, [&]<class T>(T) {
    pack_elements(static_cast<const T*>(from), shape, strides, static_cast<T*>(to));
  });
}

}  // namespace lockstep::ops::cpu

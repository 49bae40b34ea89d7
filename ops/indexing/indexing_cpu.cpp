#include <algorithm>
#include <cstring>

#include "ops/cpu/element_size.h"
#include "ops/indexing/indexing_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least

/// Both tensors as lines along `dim`: lines differ in the other coordinates, so no two of them meet.
struct Lines {
  int64_t count = 0;
  int64_t length = 0;        // of a line of the picked shape
  int64_t whole_stride = 0;  // between neighbours of a line
  int64_t picked_stride = 0;
};

Lines plan_lines(const GatherShape& shape) {
  const int64_t length = shape.picked[shape.dim];
  return {.count = length == 0 ? 0 : shape.picked.count() / length,
          .length = length,
          .whole_stride = row_major_strides(shape.whole)[shape.dim],
          .picked_stride = row_major_strides(shape.picked)[shape.dim]};
}

/// Calls visit(offset of the line's first element in the whole, in the picked) for every line, in parallel.
template <class Visit>
void for_each_line(const GatherShape& shape, const Lines& lines, Visit visit) {
  const Shape whole_strides = row_major_strides(shape.whole);
  const Shape picked_strides = row_major_strides(shape.picked);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, lines.length));
  parallel_for(lines.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t rest = line;
      int64_t in_whole = 0;
      int64_t in_picked = 0;
      for (int d = shape.picked.ndim(); d-- > 0;) {
        if (d == shape.dim) continue;
        const int64_t coordinate = rest % shape.picked[d];
        rest /= shape.picked[d];
        in_whole += coordinate * whole_strides[d];
        in_picked += coordinate * picked_strides[d];
      }
      visit(in_whole, in_picked);
    }
  });
}

template <class T>
void gather_elements(const T* x, const int64_t* index, const GatherShape& shape, T* result) {
  const Lines lines = plan_lines(shape);
  for_each_line(shape, lines, [=](int64_t in_whole, int64_t in_picked) {
    for (int64_t i = 0; i < lines.length; ++i) {
      const int64_t at = in_picked + i * lines.picked_stride;
      result[at] = x[in_whole + index[at] * lines.whole_stride];
    }
  });
}

}  // namespace

void gather(const void* x, const int64_t* index, const GatherShape& shape, size_t element_size,
            void* result) {
  visit_element_size("gather", element_size, [&]<class T>(T) {
    gather_elements(static_cast<const T*>(x), index, shape, static_cast<T*>(result));
  });
}

void scatter_add(const float* g, const int64_t* index, const GatherShape& shape, float* result) {
  const Lines lines = plan_lines(shape);
  for_each_line(shape, lines, [=](int64_t in_whole, int64_t in_picked) {
    for (int64_t i = 0; i < lines.length; ++i) {
      const int64_t at = in_picked + i * lines.picked_stride;
      result[in_whole + index[at] * lines.whole_stride] += g[at];
    }
  });
}

void select_rows(const void* x, const int64_t* index, const SelectExtents& extents, void* result) {
  const auto [outer, extent, chosen, inner] = extents;
  if (inner == 0) return;
  const auto* from = static_cast<const std::byte*>(x);
  auto* to = static_cast<std::byte*>(result);
  parallel_for(outer * chosen, std::max<int64_t>(1, 4 * kGrain / inner), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t source = row / extents.chosen * extents.extent + index[row % extents.chosen];
      std::memcpy(to + row * extents.inner, from + source * extents.inner,
                  static_cast<size_t>(extents.inner));
    }
  });
}

void add_rows(const float* g, const int64_t* index, const SelectExtents& extents, float* result) {
  // Threads share the columns of all outer slices; each adds its own columns of the rows in order.
  constexpr int64_t kStrip = 64;
  const int64_t strips = (extents.inner + kStrip - 1) / kStrip;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, extents.chosen * kStrip));
  parallel_for(extents.outer * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % strips * kStrip;
      const int64_t width = std::min(kStrip, extents.inner - first);
      const float* from = g + item / strips * extents.chosen * extents.inner + first;
      float* to = result + item / strips * extents.extent * extents.inner + first;
      for (int64_t row = 0; row < extents.chosen; ++row, from += extents.inner) {
        float* target = to + index[row] * extents.inner;
        for (int64_t i = 0; i < width; ++i) target[i] += from[i];
      }
    }
  });
}

}  // namespace lockstep::ops::cpu

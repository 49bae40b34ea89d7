// Elements of a contiguous tensor of `whole` shape at the positions (.., index, ..) that a contiguous index
// of `picked` shape names in dimension `dim`; other coordinates are the index's own. Indices are valid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/shape.h"

namespace lockstep::ops::cpu {

struct GatherShape {
  Shape whole;
  Shape picked;
  int dim = 0;
};

/// Elements of `element_size` bytes: 1, 2, 4 or 8.
void gather(const void* x, const int64_t* index, const GatherShape& shape, size_t element_size, void* result);

/// Adds g, of the picked shape, to the elements that it was taken from, in the order of the positions in g.
void scatter_add(const float* g, const int64_t* index, const GatherShape& shape, float* result);

/// [outer, extent, inner bytes] and how many of the middle dimension are chosen.
struct SelectExtents {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t chosen = 1;
  int64_t inner = 1;  ///< bytes, or elements of f32
};

/// `extents.inner` in bytes.
void select_rows(const void* x, const int64_t* index, const SelectExtents& extents, void* result);

/// Adds row i of g to row index[i] of `result`, for i in order; `extents.inner` in elements.
void add_rows(const float* g, const int64_t* index, const SelectExtents& extents, float* result);

}  // namespace lockstep::ops::cpu

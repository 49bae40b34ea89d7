#pragma once

#include <cstddef>

#include "runtime/shape.h"

namespace lockstep::ops::cpu {

/// Writes the elements of a strided view to `to` in row-major order; strides in elements of `element_size`
/// bytes (1, 2, 4 or 8).
void pack(const void* from, const Shape& shape, const Shape& strides, size_t element_size, void* to);

}  // namespace lockstep::ops::cpu

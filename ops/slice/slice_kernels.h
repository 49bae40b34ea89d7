#pragma once

#include <cstddef>

#include "runtime/shape.h"

namespace lockstep::ops::cpu {

/// Writes elements of `element_size` bytes, row-major in `from`, to a strided view of `shape` that begins at
/// `to`; strides in elements.
void unpack(const void* from, const Shape& shape, const Shape& to_strides, size_t element_size, void* to);

}  // namespace lockstep::ops::cpu

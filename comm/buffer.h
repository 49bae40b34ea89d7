// A view of elements in the caller's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/dtype.h"

namespace lockstep::comm {

struct Buffer {
  void* data = nullptr;
  int64_t count = 0;
  DType dtype = DType::kF32;

  size_t nbytes() const { return static_cast<size_t>(count) * size_of(dtype); }
};

}  // namespace lockstep::comm

#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace lockstep::ops::cpu {

void cast(const void* from, DType from_dtype, void* to, DType to_dtype, int64_t count);

}  // namespace lockstep::ops::cpu

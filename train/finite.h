// Infinities and NaN among numbers.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::train {

/// Whether no element of a contiguous f32 tensor is an infinity or NaN. One pass, on the team's threads.
bool all_finite(const Tensor& tensor);

}  // namespace lockstep::train

// What every loss returns.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Sum and weight stay apart, since only the global sums may be divided: a mean of means weighs short batches
/// too much.
struct LossResult {
  Tensor sum;            ///< f32 scalar, differentiable: the sum of the losses of the items that count
  double sum_value = 0;  ///< the same before it was rounded to f32
  double weight = 0;     ///< how many items count
};

}  // namespace lockstep::ops

// What linear computes besides products.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// sums[j] = sum over i of x[i, j], added in the order of i whatever the threads; both plain.
void column_sums_cpu(const Tensor& x, const Tensor& sums);

}  // namespace lockstep::ops

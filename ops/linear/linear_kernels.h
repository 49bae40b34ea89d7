// What linear computes besides products.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// The weight as the activations' type; a copy in bf16 is kept as long as the weight stays as it is.
Tensor weight_as_cpu(const Tensor& weight, DType dtype);

/// sums[j] = sum over i of x[i, j], f32 or bf16, added in f32 in the order of i whatever the threads; both
/// plain.
void column_sums_cpu(const Tensor& x, const Tensor& sums);

}  // namespace lockstep::ops

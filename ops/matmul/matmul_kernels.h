// The product behind matmul and linear.
#pragma once

#include "ops/matmul/matmul.h"

namespace lockstep::ops {

/// result = op(a) op(b) + bias, for bias [n] or undefined. `result` is plain and contiguous; no extent is 0.
void matmul_cpu(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result,
                const MatmulOptions& options);

}  // namespace lockstep::ops

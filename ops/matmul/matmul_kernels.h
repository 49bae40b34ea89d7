// The product behind matmul and linear.
#pragma once

#include "ops/matmul/matmul.h"

namespace lockstep::ops {

/// result = op(a) op(b) + bias, for f32 bias [n] or undefined. `result`, f32 or bf16, is plain and
/// contiguous; no extent is 0. Of an f32 and a bf16 operand the first is rounded to bf16.
void matmul_cpu(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result,
                const MatmulOptions& options);

}  // namespace lockstep::ops

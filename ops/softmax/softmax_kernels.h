// Softmax over the rows of a matrix in plain contiguous memory, f32 or bf16.
#pragma once

#include <cstdint>

#include "runtime/dtype.h"

namespace lockstep::ops {

enum class SoftmaxKind { kSoftmax, kLogSoftmax };

}  // namespace lockstep::ops

namespace lockstep::ops::cpu {

void softmax(SoftmaxKind kind, DType dtype, const void* x, int64_t rows, int64_t width, void* y);

/// `grad` is that of `y`, the result of the forward pass.
void softmax_gradient(SoftmaxKind kind, DType dtype, const void* y, const void* grad, int64_t rows,
                      int64_t width, void* result);

}  // namespace lockstep::ops::cpu

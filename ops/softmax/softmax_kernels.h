// Softmax over the rows of a matrix in plain contiguous memory.
#pragma once

#include <cstdint>

namespace lockstep::ops {

enum class SoftmaxKind { kSoftmax, kLogSoftmax };

}  // namespace lockstep::ops

namespace lockstep::ops::cpu {

void softmax(SoftmaxKind kind, const float* x, int64_t rows, int64_t width, float* y);

/// `grad` is that of `y`, the result of the forward pass.
void softmax_gradient(SoftmaxKind kind, const float* y, const float* grad, int64_t rows, int64_t width,
                      float* result);

}  // namespace lockstep::ops::cpu

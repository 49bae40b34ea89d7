#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

/// The sum of (a - b)^2.
double squared_error(const float* a, const float* b, int64_t count);

/// result = factor * (a - b).
void scaled_difference(const float* a, const float* b, float factor, float* result, int64_t count);

/// The sum of max(x, 0) - x t + log(1 + e^-|x|).
double binary_cross_entropy(const float* logits, const float* targets, int64_t count);

/// result = g * (sigmoid(x) - t).
void binary_cross_entropy_gradient(const float* logits, const float* targets, float g, float* result,
                                   int64_t count);

}  // namespace lockstep::ops::cpu

#pragma once

#include <cstdint>

#include "ops/cross_entropy/cross_entropy.h"

namespace lockstep::ops::cpu {

struct CrossEntropyShape {
  int64_t rows = 0;
  int64_t classes = 0;
};

/// Targets are valid. Per row: its loss (0 where it is ignored), its greatest logit, and 1 / sum_j
/// exp(logit_j - greatest).
void cross_entropy(const float* logits, const int64_t* targets, const CrossEntropyShape& shape,
                   const CrossEntropyOptions& options, double* losses, float* greatest, float* inverse_sums);

/// gradient[i][j] = g * (softmax(logits[i])_j - target distribution_j), 0 in ignored rows. May be written
/// over the logits.
void cross_entropy_gradient(const float* logits, const int64_t* targets, const float* greatest,
                            const float* inverse_sums, const CrossEntropyShape& shape,
                            const CrossEntropyOptions& options, float g, float* gradient);

}  // namespace lockstep::ops::cpu

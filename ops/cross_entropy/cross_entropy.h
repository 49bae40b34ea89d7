// Softmax cross-entropy with integer targets: the loss of classifiers and language models.
#pragma once

#include <cstdint>

#include "ops/loss_result.h"

namespace lockstep::ops {

struct CrossEntropyOptions {
  /// In [0, 1]: this share of the target distribution is spread evenly over all classes, the target's own
  /// included (Szegedy et al. 2016). More keeps logits smaller and the loss higher.
  double label_smoothing = 0;
  /// Rows with this target take no part: no loss, no gradient, no weight.
  int64_t ignore_index = -100;
};

/// logits [n, classes] f32 or bf16, which is cast to f32, targets [n] i64. The loss of a row with
/// log-probabilities l and target t, smoothing s:
/// -(1-s) l_t - s/classes sum_j l_j, as in PyTorch. Rows are the items; without valid ones the sum is 0. A
/// target outside [0, classes) that is not ignore_index gives InvalidArgument naming row and value.
LossResult cross_entropy(const Tensor& logits, const Tensor& targets,
                         const CrossEntropyOptions& options = {});

}  // namespace lockstep::ops

// Softmax cross-entropy with integer targets: the loss of classifiers and language models.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

struct CrossEntropyOptions {
  /// In [0, 1]: this share of the target distribution is spread evenly over all classes, the target's own
  /// included (Szegedy et al. 2016). More keeps logits smaller and the loss higher.
  double label_smoothing = 0;
  /// Rows with this target take no part: no loss, no gradient, no weight.
  int64_t ignore_index = -100;
};

/// Sum and weight stay apart, since only the global sums may be divided: a mean of means weighs short batches
/// too much.
struct CrossEntropyResult {
  Tensor sum;  ///< f32 scalar, differentiable: the sum of the losses of the rows that are not ignored
  double sum_value = 0;  ///< the same before it was rounded to f32
  double weight = 0;     ///< how many rows are not ignored
};

/// logits [n, classes] f32, targets [n] i64. The loss of a row with log-probabilities l and target t,
/// smoothing s:
/// -(1-s) l_t - s/classes sum_j l_j, as in PyTorch. Without valid rows the sum is 0. A target outside [0,
/// classes) that is not ignore_index gives InvalidArgument naming row and value.
CrossEntropyResult cross_entropy(const Tensor& logits, const Tensor& targets,
                                 const CrossEntropyOptions& options = {});

}  // namespace lockstep::ops

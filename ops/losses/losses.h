// Losses of regression, of yes-or-no questions and of given log-probabilities; that of logits is in
// cross_entropy.h. Operands are f32, or bf16, which is cast to f32. Sums are added in double, in an order
// that depends on the shapes alone.
#pragma once

#include <cstdint>

#include "ops/loss_result.h"

namespace lockstep::ops {

/// Squared error: the sum of (prediction - target)^2 of two tensors of one shape; every element is an
/// item. Differentiable in both. Throws InvalidArgument naming both shapes when they differ.
LossResult mse(const Tensor& prediction, const Tensor& target);

/// Binary cross-entropy of sigmoid(logits): the sum of max(x, 0) - x t + log(1 + e^-|x|), which overflows
/// nowhere, for logit x and target t in [0, 1]; of one shape; every element is an item. Targets are
/// constants. Throws InvalidArgument naming both shapes when they differ, or position and value of a target
/// outside [0, 1].
LossResult bce_with_logits(const Tensor& logits, const Tensor& targets);

/// Negative log-likelihood: the sum of -log_probabilities[i, targets[i]], log_probabilities [n, classes],
/// targets [n] i64; every row is an item, except those whose target is `ignore_index`. Throws InvalidArgument
/// naming the shapes, or row and value of another target outside [0, classes).
LossResult nll(const Tensor& log_probabilities, const Tensor& targets, int64_t ignore_index = -100);

}  // namespace lockstep::ops

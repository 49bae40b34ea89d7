// How often a classifier is right.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Rows of logits [n, classes] f32 whose first greatest element is at targets[n] (i64). Rows whose target is
/// `ignore_index` and rows with a NaN do not count. Not differentiable.
int64_t count_correct(const Tensor& logits, const Tensor& targets, int64_t ignore_index = -100);

/// Rows whose target is among the k > 0 greatest elements, of which the first of equals come first; for k = 1
/// the same as count_correct().
int64_t count_in_top_k(const Tensor& logits, const Tensor& targets, int64_t k, int64_t ignore_index = -100);

}  // namespace lockstep::ops

// Both passes of batch normalization. Operands are checked.
#pragma once

#include "ops/batch_norm/batch_norm.h"

namespace lockstep::ops {

enum class BatchStatistics { kComputed, kGiven };

struct BatchNormMode {
  BatchStatistics statistics;
  BatchNormOptions options;
};

/// What both passes read.
struct BatchNormInputs {
  Tensor x;  ///< dense
  Tensor gamma;
  Tensor mean;
  Tensor variance;
};

struct BatchNormForward {
  Tensor output;
  Tensor positive;  ///< where the fused ReLU let values through; undefined without it
};
/// Fills mean and variance if they are to be computed.
BatchNormForward batch_norm_forward_cpu(const BatchNormInputs& inputs, const Tensor& beta,
                                        const BatchNormMode& mode);

struct BatchNormGradients {
  Tensor x;      ///< in the layout of x
  Tensor gamma;  ///< plain
  Tensor beta;   ///< plain
};
/// Fills `result`; `grad` is that of the output.
void batch_norm_backward_cpu(const BatchNormInputs& inputs, const Tensor& grad, const Tensor& positive,
                             const BatchNormMode& mode, const BatchNormGradients& result);

/// Adds `residual`, and takes the positive part if asked to, in place.
enum class Sum { kPlain, kPositivePart };
void add_residual_cpu(const Tensor& residual, Sum sum, const Tensor& output);

/// `grad` where `output`, a positive part, is positive or NaN; 0 elsewhere. In the layout of `output`.
Tensor positive_part_gradient_cpu(const Tensor& grad, const Tensor& output);

}  // namespace lockstep::ops

// Both passes of batch normalization, each over memory as often as it has to: forward reads x once for the
// statistics and once for the result, backward reads x and the gradient twice. Operands are checked and lie
// in the layout of x. Sums are those of fixed parts of the batch, in a fixed order, whatever the threads.
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
  Tensor beta;
  Tensor mean;
  Tensor variance;
};

/// Fills mean and variance if they are to be computed, and `output`. `residual` may be undefined.
void batch_norm_forward_cpu(const BatchNormInputs& inputs, const Tensor& residual, const BatchNormMode& mode,
                            const Tensor& output);

struct BatchNormGradients {
  Tensor x;
  Tensor gamma;  ///< plain
  Tensor beta;   ///< plain
  /// That of the residual, which is the gradient where a fused ReLU after a sum let it through; may be the
  /// gradient's memory. Undefined where no ReLU followed a sum.
  Tensor masked = {};
};
/// Fills `result`. `grad` is that of the output; result.x or result.masked may be its memory, and
/// result.masked that of result.x. `output` is read only where a fused ReLU followed a sum: elsewhere the
/// mask is computed from x again, which costs no memory access.
void batch_norm_backward_cpu(const BatchNormInputs& inputs, const Tensor& output, const Tensor& grad,
                             const BatchNormMode& mode, const BatchNormGradients& result);

/// `x` in a layout that the passes can read: itself, or a plain copy.
Tensor batch_norm_operand_cpu(const Tensor& x);
/// `tensor` in the layout of `x`.
Tensor like_batch_norm_operand_cpu(const Tensor& tensor, const Tensor& x);

}  // namespace lockstep::ops

// Both passes of layer normalization over the rows of a matrix, f32 or bf16; what belongs to columns or rows
// is f32. Operands are checked, plain and contiguous.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

struct LayerNormStatistics {
  Tensor mean;      ///< [rows]
  Tensor variance;  ///< [rows], biased
};

/// Fills `output` and `statistics`.
void layer_norm_forward_cpu(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon,
                            const Tensor& output, const LayerNormStatistics& statistics);

/// Fills `x_grad`; `grad` is that of the output.
void layer_norm_backward_cpu(const Tensor& x, const Tensor& gamma, const LayerNormStatistics& statistics,
                             double epsilon, const Tensor& grad, const Tensor& x_grad);

/// Fills the gradients of gamma and beta. Sums in double, in the order of the rows whatever the threads.
void layer_norm_terms_backward_cpu(const Tensor& x, const LayerNormStatistics& statistics, double epsilon,
                                   const Tensor& grad, const Tensor& gamma_grad, const Tensor& beta_grad);

}  // namespace lockstep::ops

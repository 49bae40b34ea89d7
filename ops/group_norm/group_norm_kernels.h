// Both passes of group normalization. Operands are checked and contiguous.
#pragma once

#include "ops/group_norm/group_norm.h"

namespace lockstep::ops {

struct GroupNormForward {
  Tensor output;
  Tensor mean;     ///< [n, groups]
  Tensor inverse;  ///< [n, groups], 1 / sqrt(variance + epsilon)
};
GroupNormForward group_norm_forward_cpu(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                        const GroupNormOptions& options);

/// What backward reads.
struct GroupNormSaved {
  const Tensor& x;
  const Tensor& gamma;
  const Tensor& mean;
  const Tensor& inverse;
};

struct GroupNormGradients {
  Tensor x;
  Tensor gamma;
  Tensor beta;
};
/// Fills `result`; `grad` is that of the output.
void group_norm_backward_cpu(const GroupNormSaved& saved, const Tensor& grad,
                             const GroupNormGradients& result);

}  // namespace lockstep::ops

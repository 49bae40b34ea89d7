// Layer normalization: Ba, Kiros and Hinton, "Layer normalization", 2016, equation 4.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

struct LayerNormOptions {
  double epsilon = 1e-5;  ///< added to the variance
};

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and (biased) variance of each vector along
/// the last dimension of x [.., c]; gamma [c], beta [c]; undefined: 1, 0. x is f32 or bf16, gamma and beta
/// f32; plain result. Gradients of gamma and beta are written straight to their destination. The same bits
/// whatever the number of threads. Throws InvalidArgument naming the shapes when they do not match, and for
/// an empty x.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  const LayerNormOptions& options = {});

}  // namespace lockstep::ops

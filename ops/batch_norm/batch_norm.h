// Batch normalization: Ioffe and Szegedy, "Batch normalization: accelerating deep network training by
// reducing internal covariate shift", ICML 2015, algorithm 1.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

struct BatchNormOptions {
  double epsilon = 1e-5;  ///< added to the variance
  /// max(0, .) of the result in the same pass; saves reading and writing it once more.
  bool fuse_relu = false;
};

struct BatchNormResult {
  Tensor output;    ///< in the layout of x where the kernel allows
  Tensor mean;      ///< [c], of this batch; outside the graph
  Tensor variance;  ///< [c], biased: divided by the number of values; outside the graph
};

/// x [n, c, h, w] or [n, c], gamma [c], beta [c]: gamma (x - mean) / sqrt(variance + epsilon) + beta with
/// mean and variance of each channel over this batch, for training. x is f32 or bf16, everything that belongs
/// to a channel f32, and so are the statistics. A residual, if one is given, has the shape and type of x and
/// is added to that, before the ReLU if there is one, as at the end of a residual block. Gradients of gamma
/// and beta are written straight to their destination. Throws InvalidArgument naming the shapes when they do
/// not match, for an empty batch, and for a batch with one value per channel, whose variance means nothing.
BatchNormResult batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const BatchNormOptions& options = {}, const Tensor& residual = {});

/// The same with given mean [c] and variance [c], which are constants: for evaluation, and for training with
/// frozen statistics.
Tensor batch_norm_inference(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                            const Tensor& variance, const BatchNormOptions& options = {},
                            const Tensor& residual = {});

}  // namespace lockstep::ops

// Group normalization: Wu and He, "Group normalization", ECCV 2018, section 3.1. With as many groups as
// channels it is instance normalization (Ulyanov et al., 2016).
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

struct GroupNormOptions {
  int64_t groups = 32;    ///< of neighbouring channels; must divide their number
  double epsilon = 1e-5;  ///< added to the variance
};

/// x [n, c, ...], gamma [c], beta [c]: gamma (x - mean) / sqrt(variance + epsilon) + beta, mean and (biased)
/// variance over the c / groups channels of a group in one sample. The samples do not see each other, so that
/// training and evaluation are alike. x is f32 or bf16, gamma and beta f32; the result is plain. The same
/// bits whatever the number of threads. Throws InvalidArgument naming the shapes when they do not match, for
/// an empty batch, and where a group has a single value, whose variance means nothing.
Tensor group_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  const GroupNormOptions& options = {});

}  // namespace lockstep::ops

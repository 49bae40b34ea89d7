// Softmax and its logarithm.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// exp(x_i) / sum_j exp(x_j) along dimension `dim`, counted from the end when negative; shifted by the
/// greatest element, so nothing overflows, and -infinity gives 0. f32 or bf16, plain result. The last
/// dimension is the fast one; others are transposed first. Throws InvalidArgument naming dimension and shape
/// when it is out of range.
Tensor softmax(const Tensor& x, int dim = -1);

/// The logarithm of softmax(x, dim), accurate where that is nearly 0. cross_entropy() does not need it.
Tensor log_softmax(const Tensor& x, int dim = -1);

}  // namespace lockstep::ops

// Matrix products.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Transposing costs nothing: the product reads its operand along the other dimension.
struct MatmulOptions {
  bool transpose_a = false;  ///< of the last two dimensions
  bool transpose_b = false;
};

/// op(a) op(b), for a [m, k] and b [k, n] after the transpositions: [m, n]; or for each of a batch, a [b, m,
/// k] and b [b, k, n]: [b, m, n]. f32 or bf16, plain result; of two types the f32 operand is rounded to bf16.
/// Extents may be 0 (a sum over nothing is 0). Throws InvalidArgument naming both shapes when they do not
/// match.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

}  // namespace lockstep::ops

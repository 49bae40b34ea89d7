// Reductions over dimensions of f32 or bf16 tensors, differentiable. Sums are added in double, in an order
// that depends on the shape alone, whatever the number of threads, and rounded once, to the type of the
// operand.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace lockstep::ops {

struct ReduceOptions {
  /// Counted from the end when negative; each at most once. Empty: all of them.
  std::vector<int> dims;
  /// Reduced dimensions stay, with extent 1; else they go.
  bool keep_dims = false;
};

Tensor sum(const Tensor& x, const ReduceOptions& options = {});  ///< of no elements: 0

/// Throws InvalidArgument where there are no elements to take the mean of.
Tensor mean(const Tensor& x, const ReduceOptions& options = {});

/// NaN counts as the greatest. The gradient goes to the first greatest element. Throws InvalidArgument where
/// there are no elements.
Tensor max(const Tensor& x, const ReduceOptions& options = {});

/// Sums `x` over what broadcasting `shape` to x.shape() repeats, rounded once to `dtype`, f32 or bf16: the
/// gradient of a broadcast. `x` itself, in its own layout, when shapes and types are equal.
Tensor sum_to(const Tensor& x, const Shape& shape, DType dtype = DType::kF32);

}  // namespace lockstep::ops

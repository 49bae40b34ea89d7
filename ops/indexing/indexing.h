// Elements chosen by i64 indices; differentiable in the tensor that they are taken from. An index outside its
// range gives InvalidArgument naming its position, its value and the range. Results are contiguous.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// As PyTorch's gather, in three dimensions and dim 1: y[i, j, k] = x[i, index[i, j, k], k]. `index` has the
/// shape of the result, as many dimensions as `x`, and no extent above that of `x` but in `dim` (from the end
/// when negative). Any element type. The gradient adds up, in the order of the index's positions whatever the
/// threads, what fell on one element; of types other than f32 it is added up in f32.
Tensor gather(const Tensor& x, int dim, const Tensor& index);

/// Slices index[0], index[1], ... of dimension `dim` of `x`, for `index` [n]; that dimension of the result
/// has extent n. Types and gradient as of gather().
Tensor index_select(const Tensor& x, int dim, const Tensor& index);

/// f32 with a new last dimension of extent `classes`: 1 at the class that `index` (of any shape) names, 0
/// elsewhere. Outside the graph.
Tensor one_hot(const Tensor& index, int64_t classes);

}  // namespace lockstep::ops

// Two-dimensional convolution (cross-correlation, as everywhere in deep learning).
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Each number holds for rows and columns alike.
struct Conv2dOptions {
  int64_t stride = 1;
  int64_t padding = 0;   ///< zeros on every side
  int64_t dilation = 1;  ///< distance between the taps of the kernel
  int64_t groups = 1;    ///< input and output channels fall into this many groups that do not see each other
};

/// x [n, c, h, w], weight [o, c / groups, kh, kw], bias [o] or undefined; returns [n, o, h', w'] with
/// h' = floor((h + 2 padding - dilation (kh - 1) - 1) / stride) + 1, w' alike:
///   y[n, o, i, j] = bias[o] + sum over c, u, v of weight[o, c, u, v] x[n, c, i stride - padding + u
///   dilation, ...].
/// x is f32 or bf16, weight and bias f32. x may be plain or opaque; the result is opaque where the library
/// prefers its own layout. Gradients of weight and bias are written straight to their destination; that of x
/// is computed only where needed. Throws InvalidArgument naming both shapes when they do not match, and for
/// an empty batch.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});

}  // namespace lockstep::ops

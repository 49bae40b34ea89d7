// Two-dimensional transposed convolution: the linear map by which conv2d takes gradients back to its input,
// used forward to make images larger (Dumoulin and Visin, "A guide to convolution arithmetic for deep
// learning", 2016, chapter 4). Also called deconvolution, which it is not.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Each number holds for rows and columns alike. All but output_padding are those of the convolution whose
/// gradient this is.
struct ConvTranspose2dOptions {
  int64_t stride = 1;
  int64_t padding = 0;  ///< rows and columns that the result loses on every side
  /// Rows and columns that the result has more, below and on the right: with a stride of s, s image sizes
  /// become one under the convolution, and this names which of them is meant. Less than the stride.
  int64_t output_padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
};

/// x [n, c, h, w], weight [c, o / groups, kh, kw], bias [o] or undefined; returns [n, o, h', w'] with
/// h' = (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1, w' alike:
///   y[n, o, i stride - padding + u dilation, ...] = bias[o] + sum over all c, i, u, ... that meet there of
///   weight[c, o, u, v] x[n, c, i, j].
/// The layout of weight, and the sizes, are torch.nn.ConvTranspose2d's. x is f32 or bf16, weight and bias
/// f32. x may be plain or opaque; the result is opaque where the library prefers its own layout. The weight's
/// gradient is written straight to its destination. Throws InvalidArgument naming the shapes when they do not
/// match, for an empty batch, and where nothing is left of the result.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& options = {});

}  // namespace lockstep::ops

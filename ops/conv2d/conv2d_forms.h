// In which form oneDNN computes each pass of a convolution: a fixed rule on shapes, never a timing, so that
// all runs on one instruction set compute the same bits.
#pragma once

#include <dnnl.hpp>

#include "ops/conv2d/conv2d.h"

namespace lockstep::ops {

enum class ConvolutionPass { kForward, kBackwardData, kBackwardWeights };

/// The fastest form of a pass with weights of this shape. Winograd's is for processors with AVX-512 only: the
/// library refuses it elsewhere, and the direct form takes its place.
dnnl::algorithm fastest_form(ConvolutionPass pass, const Shape& weight, const Conv2dOptions& options);

/// Whether the forward pass is faster as the backward pass by data of the convolution with the mirrored
/// weights: the sum is the same, and for few channels that pass of the library's is the better one.
bool forward_as_backward_data(const Shape& weight, const Conv2dOptions& options);

/// Whether a pass is faster when the library sees activations with channels last than in its favourite
/// layout. Said only where both are the same memory, with 16 channels on both sides.
bool channels_last_is_faster(ConvolutionPass pass, DType dtype, const Shape& weight,
                             const Conv2dOptions& options);

}  // namespace lockstep::ops

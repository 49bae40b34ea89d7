// Average over a fixed number of windows that cover the whole image, whatever its size.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Of the result.
struct ImageSize {
  int64_t rows = 1;
  int64_t columns = 1;
};

/// x [n, c, h, w] -> [n, c, rows, columns]: element (i, j) is the average over the rows from floor(i h /
/// rows) up to, but not including, ceil((i + 1) h / rows), columns alike; neighbouring windows overlap where
/// the sizes do not divide (the rule of torch.nn.AdaptiveAvgPool2d). Size 1 x 1, the default, is global
/// average pooling. f32 or bf16. Where both sizes divide the image's, the result keeps the layout of x; else
/// it is plain. x itself when it has this size already. Throws InvalidArgument naming the shape for an empty
/// batch or image, and the size when it is not positive.
Tensor adaptive_avg_pool2d(const Tensor& x, const ImageSize& size = {});

}  // namespace lockstep::ops

// Average over sliding windows.
#pragma once

#include "ops/pool2d/pool2d.h"

namespace lockstep::ops {

/// As Pool2dOptions, and what a window that reaches over the edge is divided by.
struct AvgPool2dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;
  int64_t padding = 0;
  /// Divide by the window's size everywhere; false: by the number of its elements that lie inside the image.
  bool count_include_pad = true;
};

/// x [n, c, h, w]: the average of each window, [n, c, h', w'] (see check_pool2d), padding counting as 0. f32
/// or bf16; the result keeps the layout of x. Throws InvalidArgument naming the shape when the window does
/// not fit, and for an empty batch.
Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options = {});

}  // namespace lockstep::ops

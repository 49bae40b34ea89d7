// What max and average pooling share.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Each number holds for rows and columns alike.
struct Pool2dOptions {
  int64_t kernel = 2;
  int64_t stride = 0;   ///< 0: as the kernel
  int64_t padding = 0;  ///< on every side; at most half of the kernel, so that no window lies outside
};

/// Checks the operand and the options, replaces stride 0, and returns the result's shape: for x [n, c, h, w]
/// [n, c, h', w'] with h' = floor((h + 2 padding - kernel) / stride) + 1. Throws InvalidArgument naming the
/// operation and x's shape.
Shape check_pool2d(const char* operation, const Tensor& x, Pool2dOptions& options);

/// How an input lay, without keeping its memory: the gradient of pooling needs nothing else of it.
struct InputFormat {
  explicit InputFormat(const Tensor& x)
      : shape(x.shape()), dtype(x.dtype()), device(x.device()), layout(x.layout()) {}
  Tensor empty() const {
    return layout ? Tensor::opaque(shape, dtype, layout, device) : Tensor::empty(shape, dtype, device);
  }

  Shape shape;
  DType dtype;
  Device device;
  std::shared_ptr<const OpaqueLayout> layout;
};

}  // namespace lockstep::ops

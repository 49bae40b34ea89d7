// A stand-in for a library's own memory format: the elements in reverse order, behind one float of padding.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/tensor.h"

namespace lockstep {

inline Tensor reversed(const std::vector<float>& values, const Shape& shape) {
  auto layout = std::make_shared<OpaqueLayout>();
  layout->name = "reversed";
  layout->nbytes = (values.size() + 1) * sizeof(float);
  layout->unpack = [count = values.size()](const void* opaque, void* plain) {
    const auto* source = static_cast<const float*>(opaque) + 1;
    std::reverse_copy(source, source + count, static_cast<float*>(plain));
  };
  const Tensor tensor = Tensor::opaque(shape, DType::kF32, layout);
  auto* target = static_cast<float*>(tensor.raw());
  target[0] = 0;
  std::reverse_copy(values.begin(), values.end(), target + 1);
  return tensor;
}

}  // namespace lockstep

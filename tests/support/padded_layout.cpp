#include "tests/support/padded_layout.h"

#include <algorithm>
#include <cstring>

namespace lockstep::test {

Tensor padded_tensor(const std::vector<float>& values, const Shape& shape, const char* name) {
  constexpr size_t kPadding = 2;
  const size_t nbytes = values.size() * sizeof(float);
  auto layout = std::make_shared<OpaqueLayout>();
  layout->name = name;
  layout->nbytes = nbytes + kPadding * sizeof(float);
  layout->unpack = [nbytes](const void* opaque, void* plain) { std::memcpy(plain, opaque, nbytes); };
  Tensor tensor = Tensor::opaque(shape, DType::kF32, layout);
  auto* elements = static_cast<float*>(tensor.raw());
  std::fill_n(std::copy(values.begin(), values.end(), elements), kPadding, 0.0F);
  return tensor;
}

std::vector<float> padding_of(const Tensor& tensor) {
  const auto* elements = static_cast<const float*>(tensor.raw());
  return {elements + tensor.count(), elements + tensor.layout()->nbytes / sizeof(float)};
}

}  // namespace lockstep::test

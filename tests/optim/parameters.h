// Parameters with random values and gradients for optimizer tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "optim/optimizer.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace lockstep::test {

inline Tensor random_tensor(const Shape& shape, uint64_t id) {
  const RandomStream stream(1, Purpose::kTest, 0, id);
  Tensor tensor = Tensor::empty(shape);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.data<float>()[i] = static_cast<float>(stream.normal(static_cast<uint64_t>(i)));
  }
  return tensor;
}

inline Tensor tensor_of(const std::vector<float>& values, const Shape& shape) {
  Tensor tensor = Tensor::empty(shape);
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

/// One parameter per shape, named p0, p1, ...
inline std::vector<optim::OptimizedParameter> random_parameters(const std::vector<Shape>& shapes) {
  std::vector<optim::OptimizedParameter> parameters;
  for (const Shape& shape : shapes) {
    const uint64_t index = parameters.size();
    parameters.push_back({.name = to_text("p", index),
                          .value = random_tensor(shape, 2 * index),
                          .gradient = random_tensor(shape, 2 * index + 1)});
  }
  return parameters;
}

}  // namespace lockstep::test

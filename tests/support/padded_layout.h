// An opaque layout for tests: the elements in row-major order, then padding that is zero.
#pragma once

#include <vector>

#include "runtime/tensor.h"

namespace lockstep::test {

/// As a oneDNN result would be: two more elements than the shape holds. Layouts of equal names and shapes are
/// equal.
Tensor padded_tensor(const std::vector<float>& values, const Shape& shape, const char* name = "padded");

/// The padding of a tensor that padded_tensor() or an operation on it made.
std::vector<float> padding_of(const Tensor& tensor);

}  // namespace lockstep::test

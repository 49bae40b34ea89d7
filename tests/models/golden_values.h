// A model's tensors beside those that PyTorch computed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "models/module.h"
#include "tests/golden/golden.h"

namespace lockstep::test {

using Golden = std::map<std::string, Tensor>;

inline std::vector<double> values_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::kF64) return tensor.to_vector<double>();
  if (tensor.dtype() == DType::kI64) {
    const auto values = tensor.to_vector<int64_t>();
    return {values.begin(), values.end()};
  }
  const auto values = tensor.to_vector<float>();
  return {values.begin(), values.end()};
}

/// Same shape, and |got - expected| <= tolerance * max(1, |expected|) for each element, 0 for i64.
inline void expect_near_golden(const Tensor& got, const Tensor& expected, double tolerance,
                               const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  const double allowed = expected.dtype() == DType::kI64 ? 0 : tolerance;
  const auto values = values_of(got);
  const auto wanted = values_of(expected);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], wanted[i], allowed * std::max(1.0, std::abs(wanted[i])))
        << what << " element " << i;
  }
}

/// `sample` is make_golden.py's sampled(): elements at equal distances, then the largest absolute value, to
/// which the tolerance is relative.
inline void expect_near_sampled(const Tensor& got, const Tensor& sample, double tolerance,
                                const std::string& what) {
  const auto values = values_of(got);
  const auto wanted = values_of(sample);
  const size_t distance = (values.size() + 63) / 64;
  ASSERT_EQ(wanted.size(), (values.size() + distance - 1) / distance + 1) << what;
  const double largest = wanted.back();
  for (size_t i = 0; i + 1 < wanted.size(); ++i) {
    ASSERT_NEAR(values[i * distance], wanted[i], tolerance * largest) << what << " element " << i * distance;
  }
}

/// The tensors whose names begin so, without that beginning.
inline std::vector<NamedTensor> with_prefix(const Golden& golden, const std::string& prefix) {
  std::vector<NamedTensor> found;
  for (const auto& [name, value] : golden) {
    if (name.starts_with(prefix)) found.push_back({name.substr(prefix.size()), value});
  }
  return found;
}

inline void expect_golden_gradients(models::Module& model, const Golden& golden, double tolerance) {
  for (const Parameter* parameter : models::parameters(model)) {
    expect_near_golden(parameter->value.grad(), golden.at("gradient." + parameter->name), tolerance,
                       "gradient of " + parameter->name);
  }
}

}  // namespace lockstep::test

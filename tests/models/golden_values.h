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

/// Same shape, and |got - expected| <= tolerance * max(1, |expected|) for each f32 element, 0 for i64.
inline void expect_near_golden(const Tensor& got, const Tensor& expected, double tolerance,
                               const std::string& what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  if (expected.dtype() == DType::kI64) {
    EXPECT_EQ(got.to_vector<int64_t>(), expected.to_vector<int64_t>()) << what;
    return;
  }
  const auto values = got.to_vector<float>();
  const auto wanted = expected.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], wanted[i], tolerance * std::max(1.0F, std::abs(wanted[i])))
        << what << " element " << i;
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

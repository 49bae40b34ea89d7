// Compares an optimizer with a formula in double precision, step by step from equal states.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "optim/optimizer.h"
#include "tests/optim/parameters.h"

namespace lockstep::test {

/// One parameter and its state, in double.
struct ReferenceParameter {
  std::vector<double> value = {};
  std::vector<double> gradient = {};                        ///< averaged
  std::map<std::string, std::vector<double>> buffers = {};  ///< by their names in the optimizer's state
  double lr = 0;                                            ///< of this step, lr_factor included
  double weight_decay = 0;
  bool trust = true;
  int64_t step = 0;  ///< from 1
};

using ReferenceStep = std::function<void(ReferenceParameter&)>;

inline double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

inline std::vector<double> to_double(const Tensor& tensor) {
  const auto values = tensor.to_vector<float>();
  return {values.begin(), values.end()};
}

/// Matrices of more and less than a block of norms, a bias, a scale with decay; weights that are all 0, and
/// ones whose gradient is.
inline std::vector<optim::OptimizedParameter> reference_parameters() {
  auto parameters = random_parameters({{70, 100}, {5, 4}, {33}, {6}, {4, 4}, {3, 5}});
  for (const size_t p : {0, 1, 3, 4, 5}) parameters[p].weight_decay = 0.05;
  for (const size_t p : {2, 3}) parameters[p].trust = false;
  parameters[1].lr_factor = 0.5;
  parameters[4].value.fill(0);
  parameters[5].gradient.fill(0);
  return parameters;
}

inline ReferenceParameter snapshot(const optim::OptimizedParameter& parameter,
                                   const std::vector<NamedTensor>& state, const optim::StepOptions& options) {
  ReferenceParameter before{.value = to_double(parameter.value),
                            .gradient = to_double(parameter.gradient),
                            .lr = options.lr * parameter.lr_factor,
                            .weight_decay = parameter.weight_decay,
                            .trust = parameter.trust};
  for (double& g : before.gradient) g /= options.gradient_divisor;
  const std::string prefix = parameter.name + '.';
  for (const NamedTensor& tensor : state) {
    if (tensor.name.rfind(prefix, 0) == 0) {
      before.buffers[tensor.name.substr(prefix.size())] = to_double(tensor.value);
    }
  }
  return before;
}

/// Within 1e-6 of the expected values. Terms that cancel each other are as large as the old value, or as the
/// tensor's usual change; an error is relative to these as well.
inline void expect_close(const std::vector<double>& before, const std::vector<double>& expected,
                         const std::vector<double>& got, const std::string& what) {
  double squares = 0;
  for (size_t i = 0; i < got.size(); ++i) squares += std::pow(expected[i] - before[i], 2);
  const double change = std::sqrt(squares / static_cast<double>(got.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const double scale = std::abs(before[i]) + std::abs(expected[i]) + change;
    ASSERT_NEAR(got[i], expected[i], 1e-6 * scale) << what << ' ' << i;
  }
}

/// Random gradients and rates; every value and every element of the state stays within 1e-6 of the reference.
template <class T>
void check_steps(const optim::OptimizerOptions& options, const ReferenceStep& reference, double greatest_lr) {
  const RandomStream schedule(1, Purpose::kTest, 1, 0);
  auto parameters = reference_parameters();
  T optimizer(parameters, options);
  for (int64_t step = 1; step <= 25; ++step) {
    const optim::StepOptions at{.lr = greatest_lr * schedule.uniform(static_cast<uint64_t>(step)),
                                .gradient_divisor = 3};
    std::vector<ReferenceParameter> before;
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (p < 5) {
        parameters[p].gradient.copy_from(
            random_tensor(parameters[p].value.shape(), 100 * static_cast<uint64_t>(step) + p));
      }
      before.push_back(snapshot(parameters[p], optimizer.state(), at));
      before.back().step = step;
    }
    optimizer.step(at);
    for (size_t p = 0; p < parameters.size(); ++p) {
      ReferenceParameter expected = before[p];
      reference(expected);
      const ReferenceParameter got = snapshot(parameters[p], optimizer.state(), at);
      const std::string what = to_text("step ", step, ", ", parameters[p].name);
      expect_close(before[p].value, expected.value, got.value, what);
      for (const auto& [buffer, values] : got.buffers) {
        expect_close(before[p].buffers[buffer], expected.buffers[buffer], values, what + ' ' + buffer);
      }
    }
  }
}

}  // namespace lockstep::test

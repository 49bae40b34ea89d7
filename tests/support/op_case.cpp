#include "tests/support/op_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/autograd.h"

namespace lockstep::test {
namespace {

using MakeTensor = Tensor (*)(const Array&);

std::vector<Tensor> make_inputs(const OpCase& op, MakeTensor make, bool requires_grad) {
  std::vector<Tensor> inputs;
  for (const Array& values : op.inputs) {
    inputs.push_back(make(values));
    inputs.back().set_requires_grad(requires_grad);
  }
  return inputs;
}

double weighted_sum(const Array& values, const Array& weights) {
  double sum = 0;
  for (int64_t i = 0; i < values.count(); ++i) sum += values[i] * weights[i];
  return sum;
}

/// d sum(weights * reference(inputs)) / d inputs[input] by central differences.
Array numeric_gradient(const OpCase& op, size_t input, const Array& weights) {
  std::vector<Array> inputs = op.inputs;
  Array gradient = full(inputs[input].shape, 0);
  for (int64_t i = 0; i < gradient.count(); ++i) {
    const double x = op.inputs[input][i];
    const double step = 1e-5 * std::max(1.0, std::abs(x));
    inputs[input][i] = x + step;
    const double above = weighted_sum(op.reference(inputs), weights);
    inputs[input][i] = x - step;
    const double below = weighted_sum(op.reference(inputs), weights);
    inputs[input][i] = x;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

void check_gradients_of(const OpCase& op, MakeTensor make, const std::string& memory) {
  const std::vector<Tensor> inputs = make_inputs(op, make, true);
  const Tensor result = op.run(inputs);
  ASSERT_TRUE(result.requires_grad()) << op.name << ": the result is outside the graph";
  const Array weights = random_array(result.shape(), 77, 0.5, 1.5);
  backward(result, {.seed = to_tensor(weights), .between_nodes = {}});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = op.name + ": gradient of " + memory + " input " + std::to_string(i);
    ASSERT_TRUE(inputs[i].grad().defined()) << what << " is missing";
    expect_near(to_array(inputs[i].grad()), numeric_gradient(op, i, weights), op.gradient_tolerance, what);
  }
}

}  // namespace

void expect_near(const Array& got, const Array& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.shape, expected.shape) << what;
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (std::isfinite(expected[i])) {
      const double allowed = tolerance * std::max(1.0, std::abs(expected[i]));
      EXPECT_LE(std::abs(got[i] - expected[i]), allowed)
          << what << ": element " << i << " of " << expected.shape << " is " << got[i] << ", expected "
          << expected[i];
    } else {
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i])
          << what << ": element " << i << " is " << got[i] << ", expected " << expected[i];
    }
  }
}

void check_values(const OpCase& op) {
  const Array expected = op.reference(op.inputs);
  expect_near(to_array(op.run(make_inputs(op, to_tensor, false))), expected, op.value_tolerance, op.name);
  expect_near(to_array(op.run(make_inputs(op, to_strided_tensor, false))), expected, op.value_tolerance,
              op.name + " (strided)");
}

void check_gradients(const OpCase& op) {
  check_gradients_of(op, to_tensor, "contiguous");
  check_gradients_of(op, to_strided_tensor, "strided");
}

void check_op(const OpCase& op) {
  check_values(op);
  check_gradients(op);
}

}  // namespace lockstep::test

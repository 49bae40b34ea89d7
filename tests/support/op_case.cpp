#include "tests/support/op_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/autograd.h"

namespace lockstep::test {
namespace {

using MakeTensor = Tensor (*)(const Array&);

/// The kinds of memory that every operation has to take.
constexpr std::pair<const char*, MakeTensor> kMemories[] = {
    {"contiguous", [](const Array& values) { return to_tensor(values); }},
    {"strided", to_strided_tensor},
};

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

Array gradient_weights(const Shape& result) {
  return random_array(result, 77, 0.5, 1.5);
}

/// What backward() of sum(weights * result) leaves at the inputs.
void run_backward(const Tensor& result) {
  const Array weights = gradient_weights(result.shape());
  backward(result, {.seed = to_tensor(weights, result.dtype()), .between_nodes = {}});
}

void check_gradients_of(const OpCase& op, MakeTensor make, const std::string& memory) {
  const std::vector<Tensor> inputs = make_inputs(op, make, true);
  const Tensor result = op.run(inputs);
  ASSERT_TRUE(result.requires_grad()) << op.name << ": the result is outside the graph";
  run_backward(result);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string what = op.name + ": gradient of " + memory + " input " + std::to_string(i);
    ASSERT_TRUE(inputs[i].grad().defined()) << what << " is missing";
    expect_near(to_array(inputs[i].grad()), numeric_gradient(op, i, gradient_weights(result.shape())),
                op.gradient_tolerance, what);
  }
}

/// |got - expected| / max(1, |expected|); infinite where only one of them is finite or they are not equal.
double error_of(double got, double expected) {
  if (std::isfinite(got) && std::isfinite(expected)) {
    return std::abs(got - expected) / std::max(1.0, std::abs(expected));
  }
  const bool equal = std::isnan(expected) ? std::isnan(got) : got == expected;
  return equal ? 0 : std::numeric_limits<double>::infinity();
}

double largest_error(const Array& got, const Array& expected) {
  if (got.shape != expected.shape) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (int64_t i = 0; i < expected.count(); ++i) largest = std::max(largest, error_of(got[i], expected[i]));
  return largest;
}

}  // namespace

void expect_near(const Array& got, const Array& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(got.shape, expected.shape) << what;
  for (int64_t i = 0; i < expected.count(); ++i) {
    EXPECT_LE(error_of(got[i], expected[i]), tolerance)
        << what << ": element " << i << " of " << expected.shape << " is " << got[i] << ", expected "
        << expected[i];
  }
}

void check_values(const OpCase& op) {
  const Array expected = op.reference(op.inputs);
  for (const auto& [memory, make] : kMemories) {
    expect_near(to_array(op.run(make_inputs(op, make, false))), expected, op.value_tolerance,
                op.name + " (" + memory + ")");
  }
}

void check_gradients(const OpCase& op) {
  for (const auto& [memory, make] : kMemories) check_gradients_of(op, make, memory);
}

void check_op(const OpCase& op) {
  check_values(op);
  check_gradients(op);
}

OpErrors measure_errors(const OpCase& op) {
  OpErrors errors;
  const Array expected = op.reference(op.inputs);
  for (const auto& [memory, make] : kMemories) {
    const std::vector<Tensor> inputs = make_inputs(op, make, true);
    const Tensor result = op.run(inputs);
    errors.value = std::max(errors.value, largest_error(to_array(result), expected));
    errors.differentiable = result.requires_grad();
    if (!errors.differentiable) continue;
    run_backward(result);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Array gradient = numeric_gradient(op, i, gradient_weights(result.shape()));
      errors.gradient = std::max(errors.gradient, largest_error(to_array(inputs[i].grad()), gradient));
    }
  }
  return errors;
}

}  // namespace lockstep::test

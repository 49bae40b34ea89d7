#include "benchmarks/operations/measure.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "ops/cast/cast.h"
#include "runtime/autograd.h"

namespace lockstep::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The types of which `op` takes operands without an error.
std::string accepted_types(const test::OpCase& op) {
  std::string names;
  bool all = true;
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    std::vector<Tensor> inputs;
    for (const test::Array& values : op.inputs) inputs.push_back(ops::cast(test::to_tensor(values), dtype));
    try {
      op.run(inputs);
      names += to_text(names.empty() ? "" : " ", dtype);
    } catch (const Error&) {
      all = false;
    }
  }
  return all ? "any" : names;
}

void time_passes(const test::OpCase& op, double seconds, Measurement& result) {
  std::vector<Tensor> inputs;
  for (const test::Array& values : op.inputs) {
    inputs.push_back(test::to_tensor(values));
    inputs.back().set_requires_grad(true);
    result.timed_shapes += to_text(result.timed_shapes.empty() ? "" : " ", inputs.back().shape());
    result.bytes += static_cast<double>(inputs.back().nbytes());
  }
  const auto forward = [&] { return op.run(inputs); };
  const Tensor sample = forward();
  const Tensor seed = Tensor::full(sample.shape(), 1, sample.dtype());
  result.bytes += static_cast<double>(sample.nbytes());
  result.is_view =
      std::ranges::any_of(inputs, [&](const Tensor& input) { return input.storage() == sample.storage(); });

  constexpr size_t kFewest = 5;
  std::vector<double> forward_times;
  std::vector<double> backward_times;
  const Clock::time_point begin = Clock::now();
  while (forward_times.size() <= kFewest || seconds_between(begin, Clock::now()) < seconds) {
    const Clock::time_point start = Clock::now();
    const Tensor y = forward();
    const Clock::time_point middle = Clock::now();
    if (result.errors.differentiable) backward(y, {.seed = seed, .between_nodes = {}});
    const Clock::time_point end = Clock::now();
    forward_times.push_back(seconds_between(start, middle));
    backward_times.push_back(seconds_between(middle, end));
    for (const Tensor& input : inputs) input.leaf_gradient().clear();
  }
  // The first repetition made what later ones find ready: memory, primitives.
  result.forward_seconds = median({forward_times.begin() + 1, forward_times.end()});
  if (result.errors.differentiable) {
    result.backward_seconds = median({backward_times.begin() + 1, backward_times.end()});
  }
}

}  // namespace

Measurement measure(const test::OpRow& row, double seconds) {
  Measurement result;
  result.errors = test::measure_errors(row.checked);
  result.element_types = row.element_types.empty() ? accepted_types(row.checked) : row.element_types;
  time_passes(row.timed(), seconds, result);
  return result;
}

}  // namespace lockstep::benchmarks

#include "ops/precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "ops/bf16_support.h"
#include "ops/cast/cast.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

// A rounding to bf16 changes a number by 2^-9 of its size at most. A value is rounded twice at most, as an
// intermediate result (a transposed convolution before its bias) and as itself. A gradient also reads what
// forward has rounded, and a formula may multiply that: for log_softmax, the result by the sum of all
// gradients. Relative to the tensor's greatest number, or to 1, since intermediate results are of that size.
constexpr double kValueBound = 2 * 0x1p-9;
constexpr double kGradientBound = 8 * 0x1p-9;

/// "batch_norm" of the row "batch_norm + residual + relu".
std::string operation_of(const test::OpRow& row) {
  return row.name.substr(0, row.name.find(' '));
}

template <class Visit>
void for_each_row(Visit visit) {
  for (const test::OpFolder& folder : test::op_folders()) {
    for (const test::OpRow& row : folder.rows) visit(row, bf16_rule(operation_of(row)));
  }
}

/// Weights, scales and the like stay f32: what follows the first operand and has another shape.
bool is_parameter(const test::OpRow& row, size_t input) {
  static const std::set<std::string> with_parameters{
      "batch_norm", "batch_norm_inference", "conv2d", "conv_transpose2d",
      "group_norm", "layer_norm",           "linear"};
  return input > 0 && with_parameters.count(operation_of(row)) > 0 &&
         row.checked.inputs[input].shape != row.checked.inputs[0].shape;
}

Tensor rounded(const Array& values, DType dtype = DType::kF32) {
  return cast(test::to_tensor(values, DType::kBF16), dtype);
}

struct Outcome {
  DType dtype = DType::kF32;
  Array value = {};
  std::vector<Array> gradients = {};  // empty: not differentiable
};

/// On operands that bf16 can represent.
Outcome run(const test::OpRow& row, DType dtype) {
  std::vector<Tensor> leaves;
  std::vector<Tensor> operands;
  for (size_t i = 0; i < row.checked.inputs.size(); ++i) {
    Tensor leaf = rounded(row.checked.inputs[i]);
    leaf.set_requires_grad(true);
    leaves.push_back(leaf);
    operands.push_back(is_parameter(row, i) ? leaf : cast(leaf, dtype));
  }
  const Tensor result = row.checked.run(operands);
  Outcome outcome{.dtype = result.dtype(), .value = test::to_array(result)};
  if (!result.requires_grad()) return outcome;
  backward(result, {.seed = rounded(test::random_array(result.shape(), 77, 0.5, 1.5), result.dtype()),
                    .between_nodes = {}});
  for (const Tensor& leaf : leaves) outcome.gradients.push_back(test::to_array(leaf.grad()));
  return outcome;
}

/// Where no own loop computes bf16.
bool needs_library(const std::string& operation) {
  static const std::set<std::string> resting_on_it{"avg_pool2d", "conv2d", "conv_transpose2d", "layer_norm",
                                                   "linear",     "matmul", "max_pool2d"};
  return resting_on_it.count(operation) > 0;
}

void expect_close(const Array& got, const Array& expected, double bound, const std::string& what) {
  double greatest = 1;
  for (const double value : expected.values) greatest = std::max(greatest, std::abs(value));
  const auto relative = [&](const Array& x) { return test::map(x, [&](double v) { return v / greatest; }); };
  test::expect_near(relative(got), relative(expected), bound, what);
}

void check_row(const test::OpRow& row, Bf16Rule rule) {
  const bool exact = rule == Bf16Rule::kAnyType || rule == Bf16Rule::kCastUp;
  const Outcome f32 = run(row, DType::kF32);
  const Outcome bf16 = run(row, DType::kBF16);
  const bool follows = rule == Bf16Rule::kProducts || rule == Bf16Rule::kF32Inside;
  if (rule != Bf16Rule::kAnyType) {
    EXPECT_EQ(bf16.dtype == DType::kBF16, follows) << row.name << " gives " << bf16.dtype;
  }
  expect_close(bf16.value, f32.value, exact ? 0 : kValueBound, row.name);
  ASSERT_EQ(bf16.gradients.size(), f32.gradients.size()) << row.name;
  for (size_t i = 0; i < f32.gradients.size(); ++i) {
    expect_close(bf16.gradients[i], f32.gradients[i], kGradientBound,
                 to_text(row.name, ": gradient of input ", i));
  }
}

TEST(Precision, EveryOperationHasARowAndEveryRowAnOperation) {
  std::set<std::string, std::less<>> operations;
  for_each_row([&](const test::OpRow& row, Bf16Rule) {
    EXPECT_TRUE(std::ranges::count(precision_rows(), operation_of(row), &PrecisionRow::operation) == 1)
        << row.name;
    operations.insert(operation_of(row));
  });
  for (const PrecisionRow& row : precision_rows())
    EXPECT_EQ(operations.count(row.operation), 1U) << row.operation;
}

TEST(Precision, OperationsAgreeWithF32OnTheSameOperands) {
  const bool has_kernels = has_bf16_kernels(bf16_features());
  for_each_row([=](const test::OpRow& row, Bf16Rule rule) {
    if (rule == Bf16Rule::kRefused || rule == Bf16Rule::kF32Table) {
      test::expect_error<InvalidArgument>([&] { run(row, DType::kBF16); }, "expected f32, got bf16");
    } else if (needs_library(operation_of(row)) && !has_kernels) {
      EXPECT_THROW(run(row, DType::kBF16), Error) << row.name;
    } else {
      check_row(row, rule);
    }
  });
}

TEST(Precision, UnknownOperationsTakeF32Only) {
  EXPECT_EQ(bf16_rule("of somebody else"), Bf16Rule::kRefused);
  EXPECT_STREQ(text_of(Bf16Rule::kRefused), "f32 only");
}

}  // namespace
}  // namespace lockstep::ops

#include "tests/support/op_case.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <limits>

#include "runtime/autograd.h"

namespace lockstep::test {
namespace {

int failures_of(const std::function<void()>& body) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    body();
  }
  return results.size();
}

/// Claims to be x * value_factor with a gradient of gradient_factor.
OpCase doubling(float value_factor, float gradient_factor) {
  const auto scaled = [](const Tensor& x, float factor) {
    std::vector<float> values = x.to_vector<float>();
    for (float& value : values) value *= factor;
    return Tensor::from(values, x.shape());
  };
  return {.name = "doubling",
          .inputs = {random_array({3, 2}, 1, 0.5, 1)},
          .run =
              [=](const std::vector<Tensor>& x) {
                return record("doubling", scaled(x[0], value_factor), {x[0]}, [=](BackwardContext& context) {
                  context.add(0, scaled(context.grad(), gradient_factor));
                });
              },
          .reference =
              [](const std::vector<Array>& x) { return map(x[0], [](double value) { return 2 * value; }); }};
}

TEST(OpCase, AcceptsWhatIsRight) {
  EXPECT_EQ(failures_of([] { check_op(doubling(2, 2)); }), 0);
}

TEST(OpCase, NoticesWrongValues) {
  EXPECT_GT(failures_of([] { check_values(doubling(2.001F, 2)); }), 0);
}

TEST(OpCase, NoticesWrongGradients) {
  EXPECT_EQ(failures_of([] { check_values(doubling(2, 2.001F)); }), 0);
  EXPECT_GT(failures_of([] { check_gradients(doubling(2, 2.001F)); }), 0);
}

TEST(OpCase, NoticesShapesAndNonFiniteValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_GT(failures_of([] { expect_near(full({2}, 1), full({2, 1}, 1), 1, "shape"); }), 0);
  EXPECT_GT(failures_of([&] { expect_near(full({2}, nan), full({2}, 1), 1, "NaN"); }), 0);
  EXPECT_GT(failures_of([&] { expect_near(full({2}, 1), full({2}, nan), 1, "not NaN"); }), 0);
  EXPECT_EQ(failures_of([&] { expect_near(full({2}, nan), full({2}, nan), 1, "both NaN"); }), 0);
}

TEST(OpCase, MeasuresTheLargestErrors) {
  const OpErrors exact = measure_errors(doubling(2, 2));
  EXPECT_TRUE(exact.differentiable);
  EXPECT_LT(exact.value, 1e-7);
  EXPECT_LT(exact.gradient, 1e-7);
  // Expected are 2x in [1, 2) and, of the gradient, 2w in [1, 3): both errors are relative.
  const OpErrors wrong = measure_errors(doubling(2.5F, 3));
  EXPECT_NEAR(wrong.value, 0.25, 1e-6);
  EXPECT_NEAR(wrong.gradient, 0.5, 1e-6);

  OpCase op = doubling(2, 2);
  op.run = [](const std::vector<Tensor>& x) { return Tensor::full(x[0].shape(), 1); };
  EXPECT_FALSE(measure_errors(op).differentiable);
  op.run = [](const std::vector<Tensor>&) { return Tensor::full({2}, 1); };
  EXPECT_EQ(measure_errors(op).value, std::numeric_limits<double>::infinity());
}

TEST(OpCase, ArraysHoldEveryElementType) {
  const Array values = {{3}, {0, 1, 250}};
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor tensor = to_tensor(values, dtype);
    EXPECT_EQ(tensor.dtype(), dtype);
    EXPECT_EQ(to_array(tensor).values, values.values) << dtype;
  }
}

TEST(OpCase, StridedTensorsHoldTheSameValues) {
  const Array values = random_array({2, 3, 4}, 1);
  EXPECT_FALSE(to_strided_tensor(values).is_contiguous());
  EXPECT_EQ(to_array(to_strided_tensor(values)).values, values.values);
}

}  // namespace
}  // namespace lockstep::test

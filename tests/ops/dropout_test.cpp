#include "ops/dropout/dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

constexpr RandomKey kKey{.seed = 1, .step = 2, .micro_batch = 3};

std::vector<float> dropped_ones(int64_t count, double probability, const RandomKey& key, uint32_t layer) {
  return dropout(Tensor::full({count}, 1), probability, key, layer).to_vector<float>();
}

/// The mask is drawn from the documented stream.
test::OpCase op_case(const Shape& shape, double probability) {
  return {.name = "dropout",
          .inputs = {test::random_array(shape, 1)},
          .run = [=](const std::vector<Tensor>& x) { return dropout(x[0], probability, kKey, 7); },
          .reference =
              [=](const std::vector<test::Array>& x) {
                const RandomStream stream(kKey.seed, Purpose::kDropout, kKey.step,
                                          kKey.micro_batch << 32 | 7);
                test::Array y = x[0];
                for (int64_t i = 0; i < y.count(); ++i) {
                  const bool dropped = stream.uniform(static_cast<uint64_t>(i)) < probability;
                  y[i] = dropped ? 0 : y[i] / (1 - probability);
                }
                return y;
              }};
}

TEST(Dropout, AgreesWithTheDefinition) {
  test::check_op(op_case({13, 11}, 0.25));
}

TEST(Dropout, DropsTheGivenShareAndKeepsTheMean) {
  constexpr int64_t kCount = 100003;
  for (const double probability : {0.1, 0.5, 0.9}) {
    const std::vector<float> values = dropped_ones(kCount, probability, kKey, 0);
    const auto zeros = static_cast<double>(std::count(values.begin(), values.end(), 0.0F));
    const double deviation = std::sqrt(probability * (1 - probability) * kCount);
    EXPECT_NEAR(zeros, probability * kCount, 5 * deviation);
    const auto kept = static_cast<float>(1 / (1 - probability));
    EXPECT_EQ(zeros + static_cast<double>(std::count(values.begin(), values.end(), kept)), kCount);
  }
}

TEST(Dropout, IsAFunctionOfKeyLayerAndPosition) {
  const std::vector<float> values = dropped_ones(1001, 0.5, kKey, 4);
  EXPECT_EQ(dropped_ones(1001, 0.5, kKey, 4), values);
  EXPECT_NE(dropped_ones(1001, 0.5, kKey, 5), values);
  EXPECT_NE(dropped_ones(1001, 0.5, {.seed = 2, .step = 2, .micro_batch = 3}, 4), values);
  EXPECT_NE(dropped_ones(1001, 0.5, {.seed = 1, .step = 3, .micro_batch = 3}, 4), values);
  EXPECT_NE(dropped_ones(1001, 0.5, {.seed = 1, .step = 2, .micro_batch = 4}, 4), values);
  std::vector<float> start = values;
  start.resize(10);
  EXPECT_EQ(dropped_ones(10, 0.5, kKey, 4), start) << "a position's draw does not depend on the count";
}

TEST(Dropout, FollowsTheDocumentedStream) {
  const RandomStream stream(kKey.seed, Purpose::kDropout, kKey.step, kKey.micro_batch << 32 | 7);
  const std::vector<float> values = dropped_ones(257, 0.25, kKey, 7);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i] == 0, stream.uniform(i) < 0.25F) << i;
  }
}

TEST(Dropout, SameBitsOnAnyNumberOfThreads) {
  configure_compute_threads(1);
  const std::vector<float> one = dropped_ones(50001, 0.3, kKey, 0);
  configure_compute_threads(3);
  EXPECT_EQ(dropped_ones(50001, 0.3, kKey, 0), one);
  configure_compute_threads(allowed_cores());
}

TEST(Dropout, GradientHasTheMaskOfTheResult) {
  for (const bool strided : {false, true}) {
    const test::Array values = test::random_array({13, 11}, 1, 0.5, 1);
    Tensor x = strided ? test::to_strided_tensor(values) : test::to_tensor(values);
    x.set_requires_grad(true);
    const Tensor y = dropout(x, 0.25, kKey, 0);
    backward(y, {.seed = Tensor::full({13, 11}, 3), .between_nodes = {}});
    const std::vector<float> result = y.to_vector<float>();
    const std::vector<float> gradient = x.grad().to_vector<float>();
    const auto factor = static_cast<float>(1 / 0.75);
    for (size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i], result[i] == 0 ? 0 : static_cast<float>(values.values[i]) * factor);
      EXPECT_EQ(gradient[i], result[i] == 0 ? 0 : 3 * factor);
    }
  }
}

TEST(Dropout, ProbabilityZeroIsTheIdentity) {
  const Tensor x = Tensor::full({5}, 2);
  EXPECT_TRUE(dropout(x, 0, kKey, 0).same_memory(x));
}

TEST(Dropout, NonFiniteValuesStayVisible) {
  const std::vector<float> values =
      dropout(Tensor::full({50}, std::numeric_limits<double>::infinity()), 0.5, kKey, 0).to_vector<float>();
  EXPECT_TRUE(std::none_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }));
}

TEST(Dropout, EmptyAndOpaqueOperands) {
  EXPECT_EQ(dropout(Tensor::zeros({0, 3}), 0.5, kKey, 0).shape(), (Shape{0, 3}));
  const std::vector<float> values(6, 1);
  EXPECT_EQ(dropout(test::padded_tensor(values, {2, 3}), 0.5, kKey, 0).to_vector<float>(),
            dropout(Tensor::from(values, {2, 3}), 0.5, kKey, 0).to_vector<float>());
}

TEST(Dropout, WrongProbabilitiesAreRefused) {
  const Tensor x = Tensor::zeros({2});
  for (const double probability : {-0.1, 1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(dropout(x, probability, kKey, 0), InvalidArgument) << probability;
  }
  EXPECT_THROW(dropout(x, 0.5, {.seed = 1, .step = 1, .micro_batch = uint64_t{1} << 32}, 0), InvalidArgument);
  EXPECT_THROW(dropout(Tensor::zeros({2}, DType::kI64), 0.5, kKey, 0), InvalidArgument);
}

}  // namespace

test::OpRows dropout_rows() {
  return {{.name = "dropout", .checked = op_case({13, 11}, 0.25), .timed = [] {
             return op_case({1 << 22}, 0.25);
           }}};
}

}  // namespace lockstep::ops

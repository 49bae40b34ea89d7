#include "runtime/parameter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep {
namespace {

using Floats = std::vector<float>;

Floats drawn(const Initializer& initializer, uint64_t seed, uint64_t position, const Shape& shape) {
  Parameter parameter{"weight", Tensor::empty(shape), initializer};
  initialize(parameter, seed, position);
  return parameter.value.to_vector<float>();
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const Floats& values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const float value : values) moments.mean += value / count;
  for (const float value : values) moments.deviation += std::pow(value - moments.mean, 2) / count;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

RunningStatistic statistic_of(const std::string& name, const Tensor& value, double momentum) {
  RunningStatistic statistic;
  statistic.name = name;
  statistic.value = value;
  statistic.momentum = momentum;
  return statistic;
}

TEST(Initialize, Constant) {
  EXPECT_EQ(drawn(Initializer::constant(0.25), 1, 0, {3}), Floats(3, 0.25F));
}

TEST(Initialize, UniformFillsItsBounds) {
  const Floats values = drawn(Initializer::uniform(0.5), 1, 0, {100, 1000});
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*smallest, -0.5F);
  EXPECT_LT(*largest, 0.5F);
  EXPECT_LT(*smallest, -0.499F);
  EXPECT_GT(*largest, 0.499F);
  const Moments moments = moments_of(values);
  const double deviation = 0.5 / std::sqrt(3);
  EXPECT_NEAR(moments.mean, 0, 5 * deviation / std::sqrt(1e5));
  EXPECT_NEAR(moments.deviation, deviation, 0.01 * deviation);
}

TEST(Initialize, NormalHasItsDeviation) {
  const Moments moments = moments_of(drawn(Initializer::normal(0.02), 1, 0, {100, 1000}));
  EXPECT_NEAR(moments.mean, 0, 5 * 0.02 / std::sqrt(1e5));
  EXPECT_NEAR(moments.deviation, 0.02, 0.0002 * 1.2);
}

TEST(Initialize, DependsOnSeedAndPositionAlone) {
  const Initializer normal = Initializer::normal(1);
  const Floats values = drawn(normal, 1, 2, {4, 4});
  EXPECT_EQ(drawn(normal, 1, 2, {4, 4}), values);
  EXPECT_EQ(drawn(normal, 1, 2, {16}), values) << "element i, whatever the shape";
  EXPECT_NE(drawn(normal, 2, 2, {4, 4}), values);
  EXPECT_NE(drawn(normal, 1, 3, {4, 4}), values);
}

TEST(Initialize, ThreadsDoNotChangeTheBits) {
  const auto draw = [](int threads) {
    configure_compute_threads(threads);
    const Floats values = drawn(Initializer::normal(1), 3, 5, {100, 333});
    configure_compute_threads(allowed_cores());
    return values;
  };
  EXPECT_EQ(draw(1), draw(3));
}

TEST(Initialize, IsAChangeInPlace) {
  Parameter parameter{"weight", Tensor::empty({2}), Initializer::constant(1)};
  const uint32_t before = parameter.value.version();
  initialize(parameter, 1, 0);
  EXPECT_NE(parameter.value.version(), before);
}

TEST(RunningStatistic, OneObservationIsOneUpdateOfTheMomentum) {
  RunningStatistic statistic = statistic_of("mean", Tensor::from<float>({0, 8}, {2}), 0.25);
  statistic.observe(Tensor::from<float>({4, 4}, {2}));
  EXPECT_EQ(statistic.value.to_vector<float>(), (Floats{1, 7}));
}

TEST(RunningStatistic, MicroBatchesCountAsThatManyUpdates) {
  constexpr double kMomentum = 0.1;
  RunningStatistic merged = statistic_of("mean", Tensor::full({1}, 2), kMomentum);
  merged.commit(std::vector<double>{4 * 5.0}, 4);
  RunningStatistic repeated = statistic_of("mean", Tensor::full({1}, 2), kMomentum);
  for (int i = 0; i < 4; ++i) repeated.observe(Tensor::full({1}, 5));
  EXPECT_NEAR(merged.value.item(), repeated.value.item(), 1e-6)
      << "equal observations: the order cannot matter";
  const double keep = std::pow(1 - kMomentum, 4);
  EXPECT_FLOAT_EQ(static_cast<float>(merged.value.item()), static_cast<float>(keep * 2 + (1 - keep) * 5));
}

TEST(RunningStatistic, ABoundSumPostponesTheUpdate) {
  std::vector<double> sum{100, 0};
  RunningStatistic statistic = statistic_of("mean", Tensor::zeros({2}), 0.5);
  statistic.sum = sum;
  statistic.observe(Tensor::from<float>({1, 2}, {2}));
  statistic.observe(Tensor::from<float>({3, 4}, {2}));
  EXPECT_EQ(sum, (std::vector<double>{104, 6}));
  EXPECT_EQ(statistic.value.to_vector<float>(), (Floats{0, 0}));
}

TEST(RunningStatistic, ObservationsAreCountedWhereSomebodyWantsThem) {
  RunningStatistic statistic = statistic_of("mean", Tensor::zeros({1}), 0.1);
  statistic.observations = Tensor::zeros({}, DType::kI64);
  statistic.observe(Tensor::zeros({1}));
  statistic.commit(std::vector<double>{0}, 7);
  EXPECT_EQ(statistic.observations.item(), 8);
}

TEST(RunningStatistic, ShapesMustAgree) {
  RunningStatistic statistic = statistic_of("bn1.running_mean", Tensor::zeros({2}), 0.1);
  try {
    statistic.observe(Tensor::zeros({3}));
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[observe] bn1.running_mean has shape [2], got [3]");
  }
}

class CopyByName : public testing::Test {
 protected:
  std::string error_of(const std::vector<NamedTensor>& sources) {
    try {
      copy_by_name("load", sources, targets_);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::vector<NamedTensor> targets_{{"a", Tensor::zeros({1})}, {"b", Tensor::zeros({2})}};
};

TEST_F(CopyByName, MatchesNamesInAnyOrder) {
  copy_by_name("load", {{"b", Tensor::full({2}, 2)}, {"a", Tensor::full({1}, 1)}}, targets_);
  EXPECT_EQ(targets_[0].value.to_vector<float>(), (Floats{1}));
  EXPECT_EQ(targets_[1].value.to_vector<float>(), (Floats{2, 2}));
}

TEST_F(CopyByName, NamesTheFirstDifferenceAndCopiesNothing) {
  const NamedTensor a{"a", Tensor::full({1}, 1)};
  const NamedTensor b{"b", Tensor::full({2}, 2)};
  EXPECT_EQ(error_of({a}), "[load] b is missing");
  EXPECT_EQ(error_of({a, b, {"c", Tensor::zeros({1})}}), "[load] c is unexpected: no tensor has this name");
  EXPECT_EQ(error_of({a, a, b}), "[load] a is there twice");
  EXPECT_EQ(error_of({a, {"b", Tensor::full({3}, 2)}}), "[load] b: expected f32 [2], got f32 [3]");
  EXPECT_EQ(error_of({a, {"b", Tensor::full({2}, 2, DType::kF16)}}),
            "[load] b: expected f32 [2], got f16 [2]");
  EXPECT_EQ(targets_[0].value.item(), 0);
}

}  // namespace
}  // namespace lockstep

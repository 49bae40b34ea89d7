#include "models/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

const ForwardContext kTraining{.training = true, .random = {.seed = 1, .step = 2, .micro_batch = 3}};
const ForwardContext kEvaluation{};

void set(Module& module, size_t parameter, const std::vector<float>& values) {
  Tensor& value = parameters(module)[parameter]->value;
  value.copy_from(Tensor::from(values, value.shape()));
}

std::vector<std::string> names(Module& module) {
  std::vector<std::string> found;
  for (const NamedTensor& tensor : state_tensors(module)) found.push_back(tensor.name);
  return found;
}

/// All drawn values lie within the bound and come near both ends; their mean is small.
void expect_uniform(const Tensor& value, double bound) {
  const auto values = value.to_vector<float>();
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -bound);
  EXPECT_LE(*greatest, bound);
  EXPECT_LT(*least, -0.9 * bound);
  EXPECT_GT(*greatest, 0.9 * bound);
  double sum = 0;
  for (const float v : values) sum += v;
  EXPECT_NEAR(sum / static_cast<double>(values.size()), 0, 0.2 * bound);
}

TEST(Linear, ComputesItsProduct) {
  Linear layer(2, 3);
  set(layer, 0, {1, 2, 3, 4, 5, 6});
  set(layer, 1, {10, 20, 30});
  const Tensor y = layer.forward(Tensor::from<float>({1, -1}, {1, 2}), kEvaluation);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{9, 19, 29}));
  EXPECT_EQ(names(layer), (std::vector<std::string>{"weight", "bias"}));
}

TEST(Linear, StartsUniformByFanIn) {
  Linear layer(100, 64);
  initialize(layer, 1);
  expect_uniform(parameters(layer)[0]->value, 0.1);
  expect_uniform(parameters(layer)[1]->value, 0.1);
}

TEST(Conv2d, ComputesItsProductWithAndWithoutBias) {
  Conv2d layer(1, 2, 2, {.stride = 2});
  set(layer, 0, {1, 1, 1, 1, 1, 0, 0, -1});
  set(layer, 1, {0, 100});
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4});
  EXPECT_EQ(layer.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{14, 22, 95, 95}));

  Conv2d plain(1, 2, 2, {.stride = 2}, false);
  set(plain, 0, {1, 1, 1, 1, 1, 0, 0, -1});
  EXPECT_EQ(plain.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{14, 22, -5, -5}));
  EXPECT_EQ(names(plain), (std::vector<std::string>{"weight"}));
}

TEST(Conv2d, DrawsItsWeightAsTold) {
  Conv2d layer(4, 64, 5, {}, true, Initializer::constant(0.25));
  initialize(layer, 1);
  EXPECT_EQ(parameters(layer)[0]->value.to_vector<float>(), std::vector<float>(6400, 0.25));
  expect_uniform(parameters(layer)[1]->value, 0.1);
}

TEST(Conv2d, StartsUniformByFanInOfItsGroup) {
  Conv2d layer(8, 64, 5, {.groups = 2});
  initialize(layer, 1);
  EXPECT_EQ(parameters(layer)[0]->value.shape(), (Shape{64, 4, 5, 5}));
  expect_uniform(parameters(layer)[0]->value, 0.1);
  expect_uniform(parameters(layer)[1]->value, 0.1);
  test::expect_error<InvalidArgument>([] { Conv2d(3, 4, 1, {.groups = 2}); },
                                      "expected a divisor of 3 input and 4 output channels, got 2");
}

// Two channels, values 1, 3 and 0, 8: means 2 and 4, biased variances 1 and 16, unbiased ones 2 and 32.
const std::vector<float> kTwoChannels{1, 0, 3, 8};

TEST(BatchNorm2d, TrainsOnTheBatchAndTracksUnbiasedVariance) {
  BatchNorm2d layer(2, {.epsilon = 0, .momentum = 0.25});
  initialize(layer, 1);
  const Tensor x = Tensor::from(kTwoChannels, {2, 2, 1, 1});
  EXPECT_EQ(layer.forward(x, kTraining).to_vector<float>(), (std::vector<float>{-1, -1, 1, 1}));
  EXPECT_EQ(names(layer), (std::vector<std::string>{"weight", "bias", "running_mean", "running_var",
                                                    "num_batches_tracked"}));
  const auto state = state_tensors(layer);
  EXPECT_EQ(state[2].value.to_vector<float>(), (std::vector<float>{0.5, 1}));
  EXPECT_EQ(state[3].value.to_vector<float>(), (std::vector<float>{1.25, 8.75}));
  EXPECT_EQ(state[4].value.to_vector<int64_t>(), (std::vector<int64_t>{1}));
}

TEST(BatchNorm2d, EvaluatesWithRunningStatisticsAndLeavesThem) {
  BatchNorm2d layer(2, {.epsilon = 0});
  set(layer, 0, {2, 1});
  set(layer, 1, {0, 3});
  auto state = state_tensors(layer);
  state[2].value.copy_from(Tensor::from<float>({1, 4}, {2}));
  state[3].value.copy_from(Tensor::from<float>({4, 16}, {2}));
  const Tensor x = Tensor::from(kTwoChannels, {2, 2, 1, 1});
  EXPECT_EQ(layer.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{0, 2, 2, 4}));
  EXPECT_EQ(state[2].value.to_vector<float>(), (std::vector<float>{1, 4}));
  EXPECT_EQ(state[4].value.item(), 0);
}

TEST(BatchNorm2d, FusesRelu) {
  BatchNorm2d layer(2, {.epsilon = 0, .fuse_relu = true});
  initialize(layer, 1);
  const Tensor x = Tensor::from(kTwoChannels, {2, 2, 1, 1});
  EXPECT_EQ(layer.forward(x, kTraining).to_vector<float>(), (std::vector<float>{0, 0, 1, 1}));
  for (const float v : layer.forward(x, kEvaluation).to_vector<float>()) EXPECT_GE(v, 0);
}

TEST(BatchNorm2d, AddsAResidualBeforeTheRelu) {
  BatchNorm2d layer(2, {.epsilon = 0, .fuse_relu = true});
  initialize(layer, 1);
  const Tensor x = Tensor::from(kTwoChannels, {2, 2, 1, 1});
  const Tensor residual = Tensor::from<float>({3, 0.5, -4, 1}, x.shape());
  EXPECT_EQ(layer.forward(x, residual, kTraining).to_vector<float>(), (std::vector<float>{2, 0, 0, 2}));
  const auto alone = layer.forward(x, kEvaluation).to_vector<float>();
  EXPECT_NE(layer.forward(x, residual, kEvaluation).to_vector<float>(), alone);
}

TEST(BatchNorm2d, StartsWithTheScaleThatIsAskedFor) {
  BatchNorm2d layer(2, {.scale = 0});
  initialize(layer, 1);
  EXPECT_EQ(parameters(layer)[0]->value.to_vector<float>(), (std::vector<float>{0, 0}));
}

// As the data-parallel layer uses them: sums of all micro-batches of a step, one commit.
TEST(BatchNorm2d, OneCommitTakesSeveralMicroBatches) {
  BatchNorm2d layer(1, {.momentum = 0.5});
  initialize(layer, 1);
  const auto tracked = statistics(layer);
  std::vector<double> mean_sum(1);
  std::vector<double> variance_sum(1);
  tracked[0]->sum = mean_sum;
  tracked[1]->sum = variance_sum;
  layer.forward(Tensor::from<float>({1, 3}, {2, 1, 1, 1}), kTraining);
  layer.forward(Tensor::from<float>({0, 8}, {2, 1, 1, 1}), kTraining);
  EXPECT_EQ(mean_sum, (std::vector<double>{6}));
  EXPECT_EQ(variance_sum, (std::vector<double>{34}));
  EXPECT_EQ(tracked[0]->value.item(), 0) << "nothing changes before the commit";
  tracked[0]->commit(mean_sum, 2);
  tracked[1]->commit(variance_sum, 2);
  EXPECT_EQ(tracked[0]->value.item(), 0.75 * 3);
  EXPECT_EQ(tracked[1]->value.item(), 0.25 + 0.75 * 17);
  EXPECT_EQ(state_tensors(layer)[4].value.item(), 2);
}

TEST(BatchNorm2d, ASingleValuePerChannelCannotTrain) {
  BatchNorm2d layer(2);
  initialize(layer, 1);
  const Tensor x = Tensor::zeros({1, 2, 1, 1});
  test::expect_error<InvalidArgument>(
      [&] { layer.forward(x, kTraining); },
      "one value per channel has no variance to train on: input [1, 2, 1, 1]");
  EXPECT_EQ(layer.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(AdaptiveAvgPool2d, MakesImagesOfItsSize) {
  AdaptiveAvgPool2d layer({.rows = 1, .columns = 2});
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4});
  EXPECT_EQ(layer.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{3.5, 5.5}));
}

TEST(Dropout, DependsOnKeyAndPlaceAndOnlyInTraining) {
  Sequential model;
  auto& first = model.add<Dropout>("first", 0.5);
  auto& second = model.add<Dropout>("second", 0.5);
  const Tensor x = Tensor::full({8, 100}, 1);
  const auto mask = [&](Module& layer, const ForwardContext& context) {
    return layer.forward(x, context).to_vector<float>();
  };
  const auto kept = mask(first, kTraining);
  const auto zeros = std::count(kept.begin(), kept.end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(zeros), 400, 80);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), 2.0F), 800 - zeros);
  EXPECT_EQ(mask(first, kTraining), mask(first, kTraining));
  EXPECT_NE(mask(first, kTraining), mask(second, kTraining));
  ForwardContext other = kTraining;
  other.random.micro_batch = 4;
  EXPECT_NE(mask(first, kTraining), mask(first, other));
  EXPECT_EQ(mask(first, kEvaluation), std::vector<float>(800, 1));
  test::expect_error<InvalidArgument>([] { Dropout(1.0); }, "expected 0 <= probability < 1, got 1");
}

TEST(Sequential, RunsItsModulesInOrder) {
  Sequential model;
  model.add<MaxPool2d>("pool", ops::Pool2dOptions{.kernel = 2});
  model.add<Flatten>("flatten");
  model.add<Linear>("fc", 2, 1);
  model.add<Relu>("relu");
  EXPECT_EQ(names(model), (std::vector<std::string>{"fc.weight", "fc.bias"}));
  set(model, 0, {1, -1});
  const Tensor x = Tensor::from<float>({1, 9, 2, 3, 4, 5, 6, 7, -1, 0, 0, 0, 0, 0, 0, 3}, {2, 1, 2, 4});
  EXPECT_EQ(model.forward(x, kEvaluation).to_vector<float>(), (std::vector<float>{2, 0}));
}

TEST(Sequential, GradientsReachEveryParameter) {
  Sequential model;
  model.add<Conv2d>("conv", 1, 2, 3, ops::Conv2dOptions{.padding = 1});
  model.add<BatchNorm2d>("bn", 2);
  model.add<Flatten>("flatten");
  model.add<Linear>("fc", 32, 1);
  initialize(model, 1);
  std::vector<float> values(16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  backward(model.forward(Tensor::from(values, {1, 1, 4, 4}), kTraining));
  for (const Parameter* parameter : parameters(model)) {
    const auto gradient = parameter->value.grad().to_vector<float>();
    EXPECT_TRUE(std::any_of(gradient.begin(), gradient.end(), [](float v) { return v != 0; }))
        << parameter->name;
  }
}

}  // namespace
}  // namespace lockstep::models

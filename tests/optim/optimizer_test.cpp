#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <limits>

#include "optim/adamw.h"
#include "optim/lamb.h"
#include "optim/table.h"
#include "runtime/error.h"
#include "runtime/threads.h"
#include "tests/optim/parameters.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::random_parameters;

std::string bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.nbytes()};
}

/// The bytes of all values, then of the whole state.
std::vector<std::string> everything(const std::vector<OptimizedParameter>& parameters,
                                    const Optimizer& optimizer) {
  std::vector<std::string> bytes;
  for (const OptimizedParameter& parameter : parameters) bytes.push_back(bytes_of(parameter.value));
  for (const NamedTensor& tensor : optimizer.state()) bytes.push_back(tensor.name + bytes_of(tensor.value));
  return bytes;
}

/// What a few steps lead to on parameters of many sizes, large enough to be split among threads.
std::vector<std::string> train(const std::string& name, int threads) {
  configure_compute_threads(threads);
  auto parameters = random_parameters({{3, 5}, {100003}, {0}, {1}, {70, 1000}, {17}});
  for (OptimizedParameter& parameter : parameters) parameter.weight_decay = 0.01;
  const auto optimizer = make_optimizer(name, {}, parameters);
  for (int step = 0; step < 3; ++step) optimizer->step({.lr = 0.1, .gradient_divisor = 3});
  configure_compute_threads(1);
  return everything(parameters, *optimizer);
}

TEST(Optimizer, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const std::string& name : optimizer_names()) {
    const auto expected = train(name, 1);
    for (const int threads : {2, 3, 4}) EXPECT_EQ(train(name, threads), expected) << name << ' ' << threads;
  }
}

TEST(Optimizer, AStepChangesEveryElementOnceAndBumpsVersions) {
  auto parameters = random_parameters({{2, 3}, {50000}});
  std::vector<std::vector<float>> before;
  for (const auto& parameter : parameters) before.push_back(parameter.value.to_vector<float>());
  const uint32_t version = parameters[0].value.version();
  const auto optimizer = make_optimizer("sgd", {.momentum = 0}, parameters);
  optimizer->step({.lr = 0.5, .gradient_divisor = 2});
  EXPECT_GT(parameters[0].value.version(), version);
  for (size_t p = 0; p < parameters.size(); ++p) {
    for (size_t i = 0; i < before[p].size(); ++i) {
      const float gradient = parameters[p].gradient.data<float>()[i];
      ASSERT_EQ(parameters[p].value.data<float>()[i], before[p][i] - 0.25F * gradient) << p << ' ' << i;
    }
  }
}

TEST(Optimizer, StateIsNamedByParameterAndBufferAndIsLive) {
  auto parameters = random_parameters({{2, 3}, {4}});
  const auto optimizer = make_optimizer("sgd", {.momentum = 0.9}, parameters);
  const auto state = optimizer->state();
  ASSERT_EQ(state.size(), 2U);
  EXPECT_EQ(state[0].name, "p0.momentum_buffer");
  EXPECT_EQ(state[0].value.shape(), (Shape{2, 3}));
  EXPECT_EQ(state[1].name, "p1.momentum_buffer");
  optimizer->step({.lr = 0.1});
  EXPECT_EQ(state[1].value.to_vector<float>(), parameters[1].gradient.to_vector<float>());
  EXPECT_TRUE(make_optimizer("sgd", {.momentum = 0}, parameters)->state().empty());
}

TEST(Optimizer, ASavedStateContinuesExactly) {
  for (const std::string& name : optimizer_names()) {
    auto first = random_parameters({{2, 3}, {4}});
    const auto unbroken = make_optimizer(name, {}, first);
    for (int step = 0; step < 3; ++step) unbroken->step({.lr = 0.1});

    auto second = random_parameters({{2, 3}, {4}});
    for (size_t p = 0; p < first.size(); ++p) second[p].value.copy_from(first[p].value);
    const auto resumed = make_optimizer(name, {}, second);
    copy_by_name("optimizer state", unbroken->state(), resumed->state());
    unbroken->step({.lr = 0.05});
    resumed->step({.lr = 0.05});
    EXPECT_EQ(everything(second, *resumed), everything(first, *unbroken)) << name;
  }
}

template <class T>
class StepCount : public ::testing::Test {};
using CountingOptimizers = ::testing::Types<AdamW, Lamb>;
TYPED_TEST_SUITE(StepCount, CountingOptimizers);

TYPED_TEST(StepCount, IsStateWhereTheFormulaNeedsIt) {
  TypeParam optimizer(random_parameters({{2, 3}}), {});
  const std::vector<NamedTensor> state = optimizer.state();
  ASSERT_EQ(state.size(), 3U);
  EXPECT_EQ(state[2].name, "step");
  EXPECT_EQ(state[2].value.shape(), Shape{});
  for (int step = 0; step < 3; ++step) optimizer.step({.lr = 0.1});
  EXPECT_EQ(*state[2].value.template data<int64_t>(), 3);
  EXPECT_THROW(optimizer.step({.lr = 0.1, .gradient_divisor = 0}), InvalidArgument);
  EXPECT_EQ(*state[2].value.template data<int64_t>(), 3) << "a step that was refused is none";
}

TEST(Optimizer, RefusesStepsAndParametersThatMakeNoSense) {
  auto parameters = random_parameters({{2, 3}});
  const auto before = parameters[0].value.to_vector<float>();
  const auto optimizer = make_optimizer("sgd", {}, parameters);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  test::expect_error<InvalidArgument>([&] { optimizer->step({.lr = nan}); }, "lr: expected a finite number");
  for (const double divisor : {0.0, -1.0, 1e-60, 1e39, nan}) {
    test::expect_error<InvalidArgument>([&] { optimizer->step({.lr = 1, .gradient_divisor = divisor}); },
                                        "gradient_divisor: expected a positive number of f32's range, got ");
  }
  EXPECT_EQ(parameters[0].value.to_vector<float>(), before);

  const auto construct = [&] { make_optimizer("sgd", {}, parameters); };
  parameters[0].gradient = Tensor::zeros({3, 2});
  test::expect_error<InvalidArgument>(construct, "p0: value has shape [2, 3], gradient [3, 2]");
  parameters[0].gradient = Tensor::zeros({3, 2}).permute({1, 0});
  test::expect_error<InvalidArgument>(construct, "gradient of p0: expected plain f32 memory");
}

}  // namespace
}  // namespace lockstep::optim

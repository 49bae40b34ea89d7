#include "optim/sgd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optim/parameter_rules.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/golden/golden.h"
#include "tests/optim/parameters.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::random_tensor;

struct Case {
  double momentum;
  bool nesterov;
  double weight_decay;
  double divisor;
};

constexpr Case kCases[] = {{0, false, 0, 1},      {0, false, 0.01, 48},  {0.9, false, 0, 7},
                           {0.9, false, 0.01, 1}, {0.9, true, 0, 64},    {0.5, true, 0.1, 100},
                           {0.99, true, 1e-4, 3}, {0.9, false, 1e-4, 33}};

/// The reference form of Goyal et al., in double.
struct Reference {
  std::vector<double> value;
  std::vector<double> velocity;

  void step(const Case& c, double lr, const std::vector<float>& gradient) {
    for (size_t i = 0; i < value.size(); ++i) {
      const double g = gradient[i] / c.divisor + c.weight_decay * value[i];
      velocity[i] = c.momentum * velocity[i] + g;
      value[i] -= lr * (c.nesterov ? g + c.momentum * velocity[i] : velocity[i]);
    }
  }
};

TEST(Sgd, FollowsTheDoubleReferenceOverARandomSchedule) {
  const RandomStream schedule(1, Purpose::kTest, 1, 0);
  for (const Case& c : kCases) {
    OptimizedParameter parameter{.name = "w",
                                 .value = random_tensor({9, 11}, 0),
                                 .gradient = Tensor::zeros({9, 11}),
                                 .lr_factor = 0.5,
                                 .weight_decay = c.weight_decay};
    const auto start = parameter.value.to_vector<float>();
    Reference reference{{start.begin(), start.end()}, std::vector<double>(start.size())};
    Sgd sgd({parameter}, {.momentum = c.momentum, .nesterov = c.nesterov});
    for (uint64_t step = 0; step < 50; ++step) {
      parameter.gradient.copy_from(random_tensor({9, 11}, 1 + step));
      const double lr = 0.02 * schedule.uniform(step);
      sgd.step({.lr = lr, .gradient_divisor = c.divisor});
      reference.step(c, 0.5 * lr, parameter.gradient.to_vector<float>());
    }
    const auto values = parameter.value.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], reference.value[i], 1e-6 * std::max(1.0, std::abs(reference.value[i])))
          << "momentum " << c.momentum << " nesterov " << c.nesterov << " decay " << c.weight_decay;
    }
  }
}

TEST(Sgd, AgreesWithPyTorch) {
  const auto golden = test::load_golden("sgd.safetensors");
  const auto lrs = golden.at("lrs").to_vector<double>();
  const Tensor& gradients = golden.at("gradients");
  int cases = 0;
  for (const auto& [name, trajectory] : golden) {
    if (!golden.contains(name + " options")) continue;
    ++cases;
    const auto options = golden.at(name + " options").to_vector<double>();
    const Tensor value = golden.at("start").clone();
    Tensor gradient = Tensor::empty(value.shape());
    Sgd sgd({{.name = "w", .value = value, .gradient = gradient, .weight_decay = options[2]}},
            {.momentum = options[0], .nesterov = options[1] != 0});
    for (size_t step = 0; step < lrs.size(); ++step) {
      const auto at = static_cast<int64_t>(step);
      gradient.copy_from(gradients.narrow(0, at, 1).view(value.shape()));
      sgd.step({.lr = lrs[step]});
      const auto expected = trajectory.narrow(0, at, 1).to_vector<float>();
      const auto got = value.to_vector<float>();
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 1e-5 * std::max(1.0F, std::abs(expected[i]))) << name << ' ' << step;
      }
    }
  }
  EXPECT_EQ(cases, 6);
}

struct ExactCase {
  const char* name;
  OptimizerOptions options;
  double weight_decay;
  std::vector<float> values;  // after each of three steps from 1 with gradient 4 / 2, lr 0.5
};

TEST(Sgd, MomentumNesterovAndDecayByHand) {
  const std::vector<ExactCase> cases{
      {"plain", {.momentum = 0}, 0, {0, -1, -2}},
      {"decay", {.momentum = 0}, 0.5, {-0.25, -1.1875, -1.890625}},
      {"momentum", {.momentum = 0.5}, 0, {0, -1.5, -3.25}},
      {"momentum, decay", {.momentum = 0.5}, 0.5, {-0.25, -1.8125, -3.140625}},
      {"nesterov", {.momentum = 0.5, .nesterov = true}, 0, {-0.5, -2.25, -4.125}},
  };
  for (const ExactCase& c : cases) {
    const Tensor value = Tensor::full({1, 1}, 1);
    Sgd sgd(
        {{.name = "w", .value = value, .gradient = Tensor::full({1, 1}, 4), .weight_decay = c.weight_decay}},
        c.options);
    for (const float expected : c.values) {
      sgd.step({.lr = 0.5, .gradient_divisor = 2});
      EXPECT_EQ(value.item(), expected) << c.name;
    }
  }
}

// A layer with a weight, a bias and a normalisation scale, all gradients 1: what is excluded from decay moves
// by lr alone.
TEST(Sgd, ExcludedParametersMoveByTheLearningRateAlone) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& [name, shape] :
       {std::pair("weight", Shape{2, 2}), {"bias", Shape{2}}, {"scale", Shape{2}}}) {
    parameters.push_back({.name = name, .value = Tensor::full(shape, 1), .gradient = Tensor::full(shape, 1)});
  }
  apply_rules(parameters, 0.5);
  Sgd sgd(parameters, {.momentum = 0.9});
  sgd.step({.lr = 0.25});
  EXPECT_EQ(parameters[0].value.to_vector<float>(), std::vector<float>(4, 1 - 0.25F * 1.5F));
  EXPECT_EQ(parameters[1].value.to_vector<float>(), std::vector<float>(2, 0.75F));
  EXPECT_EQ(parameters[2].value.to_vector<float>(), std::vector<float>(2, 0.75F));
}

TEST(Sgd, RefusesOptionsOutOfRange) {
  const auto construct = [](const OptimizerOptions& options) { return [=] { Sgd sgd({}, options); }; };
  test::expect_error<InvalidArgument>(construct({.momentum = 1}), "expected 0 <= momentum < 1, got 1");
  test::expect_error<InvalidArgument>(construct({.momentum = -0.1}), "expected 0 <= momentum < 1, got -0.1");
  test::expect_error<InvalidArgument>(construct({.momentum = 0, .nesterov = true}),
                                      "nesterov needs a momentum");
}

}  // namespace
}  // namespace lockstep::optim

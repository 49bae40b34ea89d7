#include "optim/lars.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optim/parameter_rules.h"
#include "runtime/error.h"
#include "tests/optim/parameters.h"
#include "tests/optim/reference_step.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::norm;
using test::random_tensor;
using test::ReferenceParameter;

struct Settings {
  double momentum = 0.9;
  bool nesterov = false;
  double trust_coefficient = 0.02;
  double epsilon = 1e-8;
};

double ratio(const Settings& s, const ReferenceParameter& p) {
  const double w = norm(p.value);
  const double g = norm(p.gradient);
  if (!p.trust || w == 0 || g == 0) return 1;
  return s.trust_coefficient * w / (g + p.weight_decay * w + s.epsilon);
}

/// The rate inside the buffer.
void step_inside(const Settings& s, ReferenceParameter& p) {
  const double rate = p.lr * ratio(s, p);
  auto& buffer = p.buffers["momentum_buffer"];
  for (size_t i = 0; i < p.value.size(); ++i) {
    const double step = rate * (p.gradient[i] + p.weight_decay * p.value[i]);
    buffer[i] = s.momentum * buffer[i] + step;
    p.value[i] -= s.nesterov ? step + s.momentum * buffer[i] : buffer[i];
  }
}

/// The global rate outside, the trust ratio inside: what other implementations call LARS.
void step_outside(const Settings& s, ReferenceParameter& p) {
  const double local = ratio(s, p);
  auto& buffer = p.buffers["momentum_buffer"];
  for (size_t i = 0; i < p.value.size(); ++i) {
    buffer[i] = s.momentum * buffer[i] + local * (p.gradient[i] + p.weight_decay * p.value[i]);
    p.value[i] -= p.lr * buffer[i];
  }
}

TEST(Lars, FollowsTheDoubleReferenceOverARandomSchedule) {
  for (const Settings& s : {Settings{}, Settings{.momentum = 0.5, .nesterov = true, .epsilon = 0.01},
                            Settings{.momentum = 0, .trust_coefficient = 0.001, .epsilon = 0}}) {
    test::check_steps<Lars>(
        {.momentum = s.momentum,
         .nesterov = s.nesterov,
         .epsilon = s.epsilon,
         .trust_coefficient = s.trust_coefficient},
        [&](ReferenceParameter& p) { step_inside(s, p); }, 3);
  }
}

struct SmallWeight {
  Tensor value = test::tensor_of({3, 4}, {1, 2});
  Tensor gradient = test::tensor_of({6, 8}, {1, 2});
  Lars make(const OptimizerOptions& options, double weight_decay = 0, bool trust = true) const {
    return Lars(
        {{.name = "w", .value = value, .gradient = gradient, .weight_decay = weight_decay, .trust = trust}},
        options);
  }
};

constexpr OptimizerOptions kExact{.momentum = 0.5, .epsilon = 0, .trust_coefficient = 0.5};
constexpr StepOptions kStep{.lr = 1, .gradient_divisor = 2};  // the averaged gradient is (3, 4), its norm 5

TEST(Lars, ByHandWithTheRuleForZeroNorms) {
  const SmallWeight w;
  Lars lars = w.make(kExact);
  lars.step(kStep);  // ratio 1/2 * 5 / 5
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{1.5F, 2}));
  lars.step(kStep);  // ratio 1/4
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(lars.state()[0].value.to_vector<float>(), (std::vector<float>{1.5F, 2}));
  lars.step(kStep);  // |w| = 0: ratio 1
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{-3.75F, -5}));
  Tensor(w.gradient).fill(0);
  lars.step(kStep);  // |g| = 0: ratio 1, and nothing to scale
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{-5.625F, -7.5F}));
}

TEST(Lars, DecayIsPartOfDirectionAndRatio) {
  const SmallWeight w;
  w.make(kExact, 1).step(kStep);  // ratio 1/2 * 5 / (5 + 5), direction (6, 8)
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{1.5F, 2}));
}

TEST(Lars, WhereTheGradientIsZeroDecayHasTheFullRate) {
  const SmallWeight w;
  Tensor(w.gradient).fill(0);
  w.make(kExact, 0.25).step(kStep);
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{2.25F, 3}));
}

TEST(Lars, ParametersLeftOutAreScaledByNothing) {
  const SmallWeight w;
  w.make(kExact, 0, false).step({.lr = 0.25, .gradient_divisor = 2});
  EXPECT_EQ(w.value.to_vector<float>(), (std::vector<float>{2.25F, 3}));
}

TEST(Lars, BiasesAndScalesTakeNeitherRatioNorDecayByDefault) {
  auto parameters = test::random_parameters({{8, 8}, {8}});
  apply_rules(parameters, 0.5);
  const auto start = parameters[1].value.to_vector<float>();
  Lars lars(parameters, {.momentum = 0.9});
  lars.step({.lr = 0.25});
  for (size_t i = 0; i < start.size(); ++i) {
    EXPECT_EQ(parameters[1].value.data<float>()[i],
              start[i] - 0.25F * parameters[1].gradient.data<float>()[i]);
  }
}

/// The update of the first step from random weights with a gradient times `scale`.
std::vector<double> first_update(double scale, double weight_decay, double epsilon) {
  const Tensor value = random_tensor({50, 100}, 0);
  const std::vector<double> start = test::to_double(value);
  const Tensor gradient = random_tensor({50, 100}, 1);
  Lars lars({{.name = "w", .value = value, .gradient = gradient, .weight_decay = weight_decay}},
            {.epsilon = epsilon, .trust_coefficient = 0.01});
  lars.step({.lr = 2, .gradient_divisor = 1 / scale});
  std::vector<double> update = test::to_double(value);
  for (size_t i = 0; i < update.size(); ++i) update[i] -= start[i];
  return update;
}

TEST(Lars, WithoutDecayTheScaleOfTheGradientDoesNotMatter) {
  const std::vector<double> expected = first_update(1, 0, 0);
  for (const double scale : {0x1p-20, 0x1p-3, 0x1p10}) EXPECT_EQ(first_update(scale, 0, 0), expected);
  EXPECT_NE(first_update(0.5, 0.01, 0), first_update(1, 0.01, 0)) << "with decay it does";
}

TEST(Lars, TheFirstStepIsAPartOfTheWeightsNorm) {
  const double weight = norm(test::to_double(random_tensor({50, 100}, 0)));
  EXPECT_NEAR(norm(first_update(1, 0, 0)) / (2 * 0.01 * weight), 1, 1e-6);
  for (const double decay : {0.01, 1.0, 100.0}) {
    EXPECT_LE(norm(first_update(1, decay, 0)), 2 * 0.01 * weight * (1 + 1e-6)) << decay;
  }
}

TEST(Lars, TheRatioIsAtMostTrustOverDecay) {
  const std::vector<double> weights = test::to_double(random_tensor({50, 100}, 0));
  const double decay = 0.125;
  const std::vector<double> update = first_update(0x1p-30, decay, 0);
  // All that is left is -lr * (trust / decay) * decay * w.
  for (size_t i = 0; i < update.size(); ++i) {
    ASSERT_NEAR(update[i], -2 * 0.01 * weights[i], 1e-6 * std::abs(weights[i]));
  }
}

/// The distance of this optimizer from the form with the rate outside, after ten steps at `lr(step)`.
double distance_from_outside(double (*lr)(int)) {
  const Settings s;
  const Tensor value = random_tensor({6, 5}, 0);
  Tensor gradient = Tensor::empty({6, 5});
  ReferenceParameter outside{.value = test::to_double(value), .weight_decay = 0.01};
  outside.buffers["momentum_buffer"].resize(30);
  Lars lars({{.name = "w", .value = value, .gradient = gradient, .weight_decay = 0.01}},
            {.momentum = s.momentum, .epsilon = s.epsilon, .trust_coefficient = s.trust_coefficient});
  for (int step = 0; step < 10; ++step) {
    gradient.copy_from(random_tensor({6, 5}, 1 + static_cast<uint64_t>(step)));
    outside.gradient = test::to_double(gradient);
    outside.lr = lr(step);
    step_outside(s, outside);
    lars.step({.lr = outside.lr});
  }
  std::vector<double> difference = test::to_double(value);
  for (size_t i = 0; i < difference.size(); ++i) difference[i] -= outside.value[i];
  return norm(difference) / norm(outside.value);
}

TEST(Lars, TheRateIsInsideTheBuffer) {
  EXPECT_LT(distance_from_outside([](int) { return 0.5; }), 1e-5) << "a constant rate does not tell";
  EXPECT_GT(distance_from_outside([](int step) { return 0.1 * (step + 1); }), 1e-3);
}

TEST(Lars, RefusesOptionsOutOfRange) {
  const auto construct = [](const OptimizerOptions& options) { return [=] { Lars lars({}, options); }; };
  test::expect_error<InvalidArgument>(construct({.momentum = 1}), "[lars] momentum: expected 0 <= momentum");
  test::expect_error<InvalidArgument>(construct({.epsilon = -1}), "epsilon: expected a number >= 0, got -1");
  test::expect_error<InvalidArgument>(construct({.trust_coefficient = 0}),
                                      "trust_coefficient: expected a number > 0, got 0");
}

}  // namespace
}  // namespace lockstep::optim

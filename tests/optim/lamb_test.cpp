#include "optim/lamb.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "tests/optim/reference_step.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::norm;
using test::ReferenceParameter;

void reference_step(const OptimizerOptions& o, ReferenceParameter& p) {
  auto& mean = p.buffers["exp_avg"];
  auto& square = p.buffers["exp_avg_sq"];
  std::vector<double> u(p.value.size());
  for (size_t i = 0; i < u.size(); ++i) {
    const double g = p.gradient[i];
    mean[i] = o.beta1 * mean[i] + (1 - o.beta1) * g;
    square[i] = o.beta2 * square[i] + (1 - o.beta2) * g * g;
    const double corrected_mean = mean[i] / (1 - std::pow(o.beta1, p.step));
    const double corrected_square = square[i] / (1 - std::pow(o.beta2, p.step));
    u[i] = corrected_mean / (std::sqrt(corrected_square) + o.epsilon) + p.weight_decay * p.value[i];
  }
  const bool scaled = p.trust && norm(p.value) > 0 && norm(u) > 0;
  const double ratio = scaled ? norm(p.value) / norm(u) : 1;
  for (size_t i = 0; i < u.size(); ++i) p.value[i] -= p.lr * ratio * u[i];
}

TEST(Lamb, FollowsTheDoubleReferenceOverARandomSchedule) {
  for (const OptimizerOptions& options :
       {OptimizerOptions{}, OptimizerOptions{.beta1 = 0, .beta2 = 0.5, .epsilon = 0.1},
        OptimizerOptions{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6}}) {
    test::check_steps<Lamb>(
        options, [&](ReferenceParameter& p) { reference_step(options, p); }, 0.1);
  }
}

// Without memory of earlier steps the direction is the sign of the gradient.
constexpr OptimizerOptions kSigns{.beta1 = 0, .beta2 = 0, .epsilon = 1e-30};

struct ExactCase {
  const char* name;
  float weight;
  double weight_decay;
  bool trust;
  float expected;
};

TEST(Lamb, ByHand) {
  for (const ExactCase& c : {ExactCase{"|w| = 4, |u| = 2", 2, 0, true, 2 - 0.25F * 2},
                             {"u with decay: |u| = 4", 2, 0.5, true, 2 - 0.25F * 2},
                             {"|w| = 0", 0, 0.5, true, -0.25F},
                             {"left out", 2, 0, false, 2 - 0.25F}}) {
    const Tensor value = Tensor::full({2, 2}, c.weight);
    Lamb lamb({{.name = "w",
                .value = value,
                .gradient = Tensor::full({2, 2}, 6),
                .weight_decay = c.weight_decay,
                .trust = c.trust}},
              kSigns);
    lamb.step({.lr = 0.25, .gradient_divisor = 2});
    EXPECT_EQ(value.to_vector<float>(), std::vector<float>(4, c.expected)) << c.name;
    EXPECT_EQ(lamb.state()[1].value.to_vector<float>(), std::vector<float>(4, 9)) << c.name;
  }
}

TEST(Lamb, WhereNothingPushesNothingMoves) {
  const Tensor value = Tensor::full({2, 2}, 2);
  Lamb lamb({{.name = "w", .value = value, .gradient = Tensor::zeros({2, 2})}}, {});
  for (int step = 0; step < 3; ++step) lamb.step({.lr = 1});
  EXPECT_EQ(value.to_vector<float>(), std::vector<float>(4, 2)) << "|u| = 0";
}

TEST(Lamb, EveryStepIsAPartOfTheWeightsNorm) {
  auto parameters = test::reference_parameters();
  Lamb lamb(parameters, {});
  for (int step = 0; step < 5; ++step) {
    const std::vector<double> before = test::to_double(parameters[0].value);
    lamb.step({.lr = 0.01});
    std::vector<double> update = test::to_double(parameters[0].value);
    for (size_t i = 0; i < update.size(); ++i) update[i] -= before[i];
    EXPECT_NEAR(norm(update) / (0.01 * norm(before)), 1, 1e-4);
  }
}

TEST(Lamb, RefusesOptionsOutOfRange) {
  const auto construct = [](const OptimizerOptions& options) { return [=] { Lamb lamb({}, options); }; };
  test::expect_error<InvalidArgument>(construct({.beta2 = 1}),
                                      "[lamb] beta2: expected 0 <= beta2 < 1, got 1");
  test::expect_error<InvalidArgument>(construct({.epsilon = 0}), "[lamb] epsilon: expected at least");
}

}  // namespace
}  // namespace lockstep::optim

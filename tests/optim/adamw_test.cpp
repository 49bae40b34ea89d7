#include "optim/adamw.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "tests/golden/golden.h"
#include "tests/optim/reference_step.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::ReferenceParameter;

void reference_step(const OptimizerOptions& o, ReferenceParameter& p) {
  auto& mean = p.buffers["exp_avg"];
  auto& square = p.buffers["exp_avg_sq"];
  for (size_t i = 0; i < p.value.size(); ++i) {
    const double g = p.gradient[i];
    mean[i] = o.beta1 * mean[i] + (1 - o.beta1) * g;
    square[i] = o.beta2 * square[i] + (1 - o.beta2) * g * g;
    const double corrected_mean = mean[i] / (1 - std::pow(o.beta1, p.step));
    const double corrected_square = square[i] / (1 - std::pow(o.beta2, p.step));
    p.value[i] -= p.lr * p.weight_decay * p.value[i];
    p.value[i] -= p.lr * corrected_mean / (std::sqrt(corrected_square) + o.epsilon);
  }
}

TEST(AdamW, FollowsTheDoubleReferenceOverARandomSchedule) {
  for (const OptimizerOptions& options :
       {OptimizerOptions{}, OptimizerOptions{.beta1 = 0, .beta2 = 0.5, .epsilon = 0.1},
        OptimizerOptions{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6}}) {
    test::check_steps<AdamW>(
        options, [&](ReferenceParameter& p) { reference_step(options, p); }, 0.1);
  }
}

TEST(AdamW, AgreesWithPyTorch) {
  const auto golden = test::load_golden("adamw.safetensors");
  const auto lrs = golden.at("lrs").to_vector<double>();
  const Tensor& gradients = golden.at("gradients");
  int cases = 0;
  for (const auto& [name, trajectory] : golden) {
    if (!golden.contains(name + " options")) continue;
    ++cases;
    const auto options = golden.at(name + " options").to_vector<double>();
    const Tensor value = golden.at("start").clone();
    Tensor gradient = Tensor::empty(value.shape());
    AdamW adamw({{.name = "w", .value = value, .gradient = gradient, .weight_decay = options[3]}},
                {.beta1 = options[0], .beta2 = options[1], .epsilon = options[2]});
    for (size_t step = 0; step < lrs.size(); ++step) {
      const auto at = static_cast<int64_t>(step);
      gradient.copy_from(gradients.narrow(0, at, 1).view(value.shape()));
      adamw.step({.lr = lrs[step]});
      const auto expected = trajectory.narrow(0, at, 1).to_vector<float>();
      const auto got = value.to_vector<float>();
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 1e-6 * std::max(1.0F, std::abs(expected[i]))) << name << ' ' << step;
      }
    }
  }
  EXPECT_EQ(cases, 4);
}

TEST(AdamW, ByHand) {
  const Tensor value = Tensor::full({1}, 1);
  AdamW adamw({{.name = "w", .value = value, .gradient = Tensor::full({1}, 8), .weight_decay = 0.5}},
              {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 1e-30});
  adamw.step({.lr = 0.25, .gradient_divisor = 2});
  // m = 2, v = 4, corrected 4 and 16; the decay is of the old weight, and not divided by the root.
  EXPECT_EQ(value.item(), 1 - 0.125F - 0.25F);
  const auto state = adamw.state();
  ASSERT_EQ(state.size(), 3U);
  EXPECT_EQ(state[0].name, "w.exp_avg");
  EXPECT_EQ(state[0].value.item(), 2);
  EXPECT_EQ(state[1].name, "w.exp_avg_sq");
  EXPECT_EQ(state[1].value.item(), 4);
}

TEST(AdamW, AGradientThatIsAlwaysZeroMovesNothing) {
  const Tensor value = Tensor::full({3}, 1);
  AdamW adamw({{.name = "w", .value = value, .gradient = Tensor::zeros({3})}}, {});
  for (int step = 0; step < 3; ++step) adamw.step({.lr = 1});
  EXPECT_EQ(value.to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST(AdamW, RefusesOptionsOutOfRange) {
  const auto construct = [](const OptimizerOptions& options) { return [=] { AdamW adamw({}, options); }; };
  test::expect_error<InvalidArgument>(construct({.beta1 = 1}),
                                      "[adamw] beta1: expected 0 <= beta1 < 1, got 1");
  test::expect_error<InvalidArgument>(construct({.epsilon = 0}), "[adamw] epsilon: expected at least");
}

}  // namespace
}  // namespace lockstep::optim

#include "optim/lion.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/optim/reference_step.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

using test::ReferenceParameter;

void reference_step(const OptimizerOptions& o, ReferenceParameter& p) {
  auto& mean = p.buffers["exp_avg"];
  for (size_t i = 0; i < p.value.size(); ++i) {
    const double c = o.beta1 * mean[i] + (1 - o.beta1) * p.gradient[i];
    const double sign = c > 0 ? 1 : c < 0 ? -1 : 0;
    p.value[i] -= p.lr * (sign + p.weight_decay * p.value[i]);
    mean[i] = o.beta2 * mean[i] + (1 - o.beta2) * p.gradient[i];
  }
}

TEST(Lion, FollowsTheDoubleReferenceOverARandomSchedule) {
  for (const OptimizerOptions& options :
       {OptimizerOptions{.beta1 = 0.9, .beta2 = 0.99}, OptimizerOptions{.beta1 = 0, .beta2 = 0.5}}) {
    test::check_steps<Lion>(
        options, [&](ReferenceParameter& p) { reference_step(options, p); }, 0.1);
  }
}

TEST(Lion, ByHand) {
  const Tensor value = test::tensor_of({1, 1, 1, 2}, {4});
  const Tensor gradient = test::tensor_of({8, -8, 0, 0}, {4});
  Lion lion({{.name = "w", .value = value, .gradient = gradient, .weight_decay = 0.5}},
            {.beta1 = 0.5, .beta2 = 0.75});
  lion.step({.lr = 0.25, .gradient_divisor = 2});
  EXPECT_EQ(value.to_vector<float>(), (std::vector<float>{0.625F, 1.125F, 0.875F, 1.75F}));
  EXPECT_EQ(lion.state()[0].name, "w.exp_avg");
  EXPECT_EQ(lion.state()[0].value.to_vector<float>(), (std::vector<float>{1, -1, 0, 0}));
  // The sign is of the mixture with beta1: 0.5 * 1 - 0.5 * 0.5 > 0, though the gradient has turned.
  gradient.data<float>()[0] = -1;
  lion.step({.lr = 0.25, .gradient_divisor = 2});
  EXPECT_EQ(value.data<float>()[0], 0.625F - 0.25F * (1 + 0.3125F));
}

TEST(Lion, RefusesOptionsOutOfRange) {
  const auto construct = [](const OptimizerOptions& options) { return [=] { Lion lion({}, options); }; };
  test::expect_error<InvalidArgument>(construct({.beta1 = -0.5}), "[lion] beta1: expected 0 <= beta1 < 1");
  test::expect_error<InvalidArgument>(construct({.beta2 = 1}), "[lion] beta2: expected 0 <= beta2 < 1");
}

}  // namespace
}  // namespace lockstep::optim

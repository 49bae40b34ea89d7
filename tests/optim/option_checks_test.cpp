#include "optim/option_checks.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(OptionChecks, WhatIsInRangePasses) {
  check_momentum("x", {.momentum = 0});
  check_momentum("x", {.momentum = 0.999, .nesterov = true});
  check_betas("x", {.beta1 = 0, .beta2 = 0.999999});
  check_positive_epsilon("x", {.epsilon = 1e-30});
}

TEST(OptionChecks, WhatIsNotIsNamedWithTheOptimizer) {
  test::expect_error<InvalidArgument>([] { check_momentum("x", {.momentum = 1}); },
                                      "[x] momentum: expected 0 <= momentum < 1, got 1");
  test::expect_error<InvalidArgument>([] { check_momentum("x", {.momentum = kNan}); }, "momentum: expected");
  test::expect_error<InvalidArgument>([] { check_momentum("x", {.momentum = 0, .nesterov = true}); },
                                      "[x] nesterov needs a momentum > 0");
  test::expect_error<InvalidArgument>([] { check_betas("x", {.beta1 = -0.5}); },
                                      "[x] beta1: expected 0 <= beta1 < 1, got -0.5");
  test::expect_error<InvalidArgument>([] { check_betas("x", {.beta2 = kNan}); }, "beta2: expected");
  test::expect_error<InvalidArgument>([] { check_positive_epsilon("x", {.epsilon = 0}); },
                                      "[x] epsilon: expected at least 1.17549e-38, got 0");
  test::expect_error<InvalidArgument>([] { check_positive_epsilon("x", {.epsilon = kNan}); },
                                      "epsilon: expected");
}

}  // namespace
}  // namespace lockstep::optim

#include "optim/option_checks.h"

#include <cmath>
#include <limits>

#include "runtime/error.h"

namespace lockstep::optim {
namespace {

void check_beta(const char* optimizer, const char* name, double beta) {
  check(beta >= 0 && beta < 1, optimizer, name, ": expected 0 <= ", name, " < 1, got ", beta);
}

}  // namespace

void check_momentum(const char* optimizer, const OptimizerOptions& options) {
  check_beta(optimizer, "momentum", options.momentum);
  check(!options.nesterov || options.momentum > 0, optimizer, "nesterov needs a momentum > 0");
}

void check_betas(const char* optimizer, const OptimizerOptions& options) {
  check_beta(optimizer, "beta1", options.beta1);
  check_beta(optimizer, "beta2", options.beta2);
}

void check_positive_epsilon(const char* optimizer, const OptimizerOptions& options) {
  constexpr double kSmallest = std::numeric_limits<float>::min();
  check(std::isfinite(options.epsilon) && options.epsilon >= kSmallest, optimizer,
        "epsilon: expected at least ", kSmallest, ", got ", options.epsilon);
}

}  // namespace lockstep::optim

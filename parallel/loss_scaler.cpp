#include "parallel/loss_scaler.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/error.h"

namespace lockstep::parallel {
namespace {

constexpr const char* kOperation = "loss scale";
constexpr double kGrowth = 2;
constexpr double kBackoff = 0.5;

void check_power_of_two(const char* what, double value) {
  int exponent = 0;
  check(value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5, kOperation, what,
        ": expected a power of two, got ", scale_text(value));
}

}  // namespace

std::string scale_text(double scale) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, scale).ptr};
}

LossScaler::LossScaler(const LossScalerOptions& options) : options_(options) {
  state_.scale = options.initial;
  if (!options.dynamic) return;
  check_power_of_two("floor", options.floor);
  check_power_of_two("cap", options.cap);
  check_power_of_two("initial value", options.initial);
  check(options.floor <= options.initial && options.initial <= options.cap, kOperation,
        "initial value: expected ", scale_text(options.floor), " to ", scale_text(options.cap), ", got ",
        scale_text(options.initial));
  check(options.growth_interval > 0 && options.most_skips_in_a_row > 0, kOperation,
        "expected a positive growth interval and limit of skips, got ", options.growth_interval, " and ",
        options.most_skips_in_a_row);
}

LossScaler::Verdict LossScaler::update(bool found_nonfinite) {
  if (found_nonfinite) return skip();
  state_.skips_in_a_row = 0;
  if (options_.dynamic && ++state_.clean_steps >= options_.growth_interval) {
    state_.clean_steps = 0;
    state_.scale = std::min(state_.scale * kGrowth, options_.cap);
  }
  return Verdict::kTake;
}

LossScaler::Verdict LossScaler::skip() {
  state_.clean_steps = 0;
  ++state_.skips_in_a_row;
  ++state_.skipped_steps;
  if (!options_.dynamic || state_.scale <= options_.floor) return Verdict::kCollapse;
  state_.scale *= kBackoff;
  return state_.skips_in_a_row < options_.most_skips_in_a_row ? Verdict::kSkip : Verdict::kCollapse;
}

void LossScaler::restore(const LossScalerState& state) {
  const double own = state_.scale;
  state_ = state;
  state_.scale = options_.dynamic ? std::clamp(state.scale, options_.floor, options_.cap) : own;
}

}  // namespace lockstep::parallel

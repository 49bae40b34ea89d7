#include "optim/adamw.h"

#include "optim/adam_moments.h"
#include "optim/option_checks.h"

namespace lockstep::optim {
namespace {

struct Coefficients {
  AdamCoefficients adam;
  float rate;
  float keep;  // of the weight, after decay
  float divisor;
};

void update_elements(float* __restrict value, const float* __restrict gradient, float* __restrict mean,
                     float* __restrict square, int64_t count, const Coefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] / c.divisor;
    mean[i] = adam_mean(mean[i], g, c.adam);
    square[i] = adam_square(square[i], g, c.adam);
    value[i] = value[i] * c.keep - c.rate * adam_direction(mean[i], square[i], c.adam);
  }
}

const OptimizerOptions& checked(const OptimizerOptions& options) {
  check_betas("adamw", options);
  check_positive_epsilon("adamw", options);
  return options;
}

}  // namespace

AdamW::AdamW(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options)
    : Optimizer(std::move(parameters), {.buffers = {"exp_avg", "exp_avg_sq"}, .counts_steps = true}),
      options_(checked(options)) {}

void AdamW::update(const StepOptions& options) {
  const AdamCoefficients adam = adam_coefficients(options_, steps());
  for_each_piece([&](const Piece& piece) {
    const double rate = options.lr * piece.parameter.lr_factor;
    const Coefficients c{adam, static_cast<float>(rate),
                         static_cast<float>(1 - rate * piece.parameter.weight_decay),
                         static_cast<float>(options.gradient_divisor)};
    update_elements(piece.value(), piece.gradient(), buffer(0) + piece.flat_begin,
                    buffer(1) + piece.flat_begin, piece.count, c);
  });
}

}  // namespace lockstep::optim

#include "optim/lion.h"

#include "optim/option_checks.h"

namespace lockstep::optim {
namespace {

struct Coefficients {
  float rate;
  float divisor;
  float weight_decay;
  float beta1, rest1;  // rest: 1 - beta
  float beta2, rest2;
};

float sign(float x) {
  return static_cast<float>(x > 0) - static_cast<float>(x < 0);
}

void update_elements(float* __restrict value, const float* __restrict gradient, float* __restrict mean,
                     int64_t count, const Coefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] / c.divisor;
    value[i] -= c.rate * (sign(c.beta1 * mean[i] + c.rest1 * g) + c.weight_decay * value[i]);
    mean[i] = c.beta2 * mean[i] + c.rest2 * g;
  }
}

const OptimizerOptions& checked(const OptimizerOptions& options) {
  check_betas("lion", options);
  return options;
}

}  // namespace

Lion::Lion(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options)
    : Optimizer(std::move(parameters), {.buffers = {"exp_avg"}}), options_(checked(options)) {}

void Lion::update(const StepOptions& options) {
  for_each_piece([&](const Piece& piece) {
    const Coefficients c{.rate = static_cast<float>(options.lr * piece.parameter.lr_factor),
                         .divisor = static_cast<float>(options.gradient_divisor),
                         .weight_decay = static_cast<float>(piece.parameter.weight_decay),
                         .beta1 = static_cast<float>(options_.beta1),
                         .rest1 = static_cast<float>(1 - options_.beta1),
                         .beta2 = static_cast<float>(options_.beta2),
                         .rest2 = static_cast<float>(1 - options_.beta2)};
    update_elements(piece.value(), piece.gradient(), buffer(0) + piece.flat_begin, piece.count, c);
  });
}

}  // namespace lockstep::optim

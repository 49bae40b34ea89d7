#include "optim/lars.h"

#include <cmath>

#include "optim/option_checks.h"
#include "runtime/error.h"

namespace lockstep::optim {
namespace {

struct Coefficients {
  float rate;
  float divisor;
  float weight_decay;
  float momentum;
};

template <bool kNesterov>
void update_elements(float* __restrict value, const float* __restrict gradient, float* __restrict buffer,
                     int64_t count, const Coefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    const float step = c.rate * (gradient[i] / c.divisor + c.weight_decay * value[i]);
    const float velocity = c.momentum * buffer[i] + step;
    buffer[i] = velocity;
    value[i] -= kNesterov ? step + c.momentum * velocity : velocity;
  }
}

const OptimizerOptions& checked(const OptimizerOptions& options) {
  check_momentum("lars", options);
  check(std::isfinite(options.epsilon) && options.epsilon >= 0, "lars",
        "epsilon: expected a number >= 0, got ", options.epsilon);
  check(std::isfinite(options.trust_coefficient) && options.trust_coefficient > 0, "lars",
        "trust_coefficient: expected a number > 0, got ", options.trust_coefficient);
  return options;
}

}  // namespace

Lars::Lars(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options)
    : Optimizer(std::move(parameters), {.buffers = {"momentum_buffer"}}),
      options_(checked(options)),
      norms_(counts()) {}

/// Of each parameter, trust ratio included.
std::vector<float> Lars::rates(const StepOptions& options) {
  const auto divisor = static_cast<double>(static_cast<float>(options.gradient_divisor));
  const std::vector<TrustNorms> norms = norms_.measure([this](const SegmentNorms::Block& block) -> TrustSums {
    const Piece part = piece(block.segment, block.begin, block.count);
    if (!part.parameter.trust) return {};
    return {sum_of_squares(part.value(), part.count), sum_of_squares(part.gradient(), part.count)};
  });
  std::vector<float> rates;
  for (size_t p = 0; p < norms.size(); ++p) {
    const OptimizedParameter& parameter = parameters()[p];
    const double weight = norms[p].weight;
    const double gradient = norms[p].direction / divisor;
    double ratio = 1;
    if (weight > 0 && gradient > 0) {
      ratio = options_.trust_coefficient * weight /
              (gradient + parameter.weight_decay * weight + options_.epsilon);
    }
    rates.push_back(static_cast<float>(options.lr * parameter.lr_factor * ratio));
  }
  return rates;
}

void Lars::update(const StepOptions& options) {
  const std::vector<float> rates_of = rates(options);
  for_each_piece([&](const Piece& piece) {
    const Coefficients c{rates_of[piece.index], static_cast<float>(options.gradient_divisor),
                         static_cast<float>(piece.parameter.weight_decay),
                         static_cast<float>(options_.momentum)};
    const auto update = options_.nesterov ? update_elements<true> : update_elements<false>;
    update(piece.value(), piece.gradient(), buffer(0) + piece.flat_begin, piece.count, c);
  });
}

}  // namespace lockstep::optim

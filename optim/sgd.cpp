#include "optim/sgd.h"

#include "optim/option_checks.h"

namespace lockstep::optim {
namespace {

enum class Variant { kPlain, kMomentum, kNesterov };

struct Coefficients {
  float lr;
  float divisor;
  float weight_decay;
  float momentum;
};

template <Variant kVariant>
void update_elements(float* __restrict value, const float* __restrict gradient, float* __restrict buffer,
                     int64_t count, const Coefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    float direction = gradient[i] / c.divisor + c.weight_decay * value[i];
    if constexpr (kVariant != Variant::kPlain) {
      const float velocity = c.momentum * buffer[i] + direction;
      buffer[i] = velocity;
      direction = kVariant == Variant::kNesterov ? direction + c.momentum * velocity : velocity;
    }
    value[i] -= c.lr * direction;
  }
}

std::vector<std::string> buffer_names(const OptimizerOptions& options) {
  check_momentum("sgd", options);
  if (options.momentum == 0) return {};
  return {"momentum_buffer"};
}

}  // namespace

Sgd::Sgd(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options)
    : Optimizer(std::move(parameters), {.buffers = buffer_names(options)}),
      momentum_(static_cast<float>(options.momentum)),
      nesterov_(options.nesterov) {}

void Sgd::update(const StepOptions& options) {
  float* const momentum_buffer = momentum_ > 0 ? buffer(0) : nullptr;
  for_each_piece([&](const Piece& piece) {
    const OptimizedParameter& parameter = piece.parameter;
    float* const value = piece.value();
    const float* const gradient = piece.gradient();
    const Coefficients c{static_cast<float>(options.lr * parameter.lr_factor),
                         static_cast<float>(options.gradient_divisor),
                         static_cast<float>(parameter.weight_decay), momentum_};
    if (momentum_buffer == nullptr) {
      update_elements<Variant::kPlain>(value, gradient, nullptr, piece.count, c);
    } else if (nesterov_) {
      update_elements<Variant::kNesterov>(value, gradient, momentum_buffer + piece.flat_begin, piece.count,
                                          c);
    } else {
      update_elements<Variant::kMomentum>(value, gradient, momentum_buffer + piece.flat_begin, piece.count,
                                          c);
    }
  });
}

}  // namespace lockstep::optim

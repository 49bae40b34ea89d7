#include "optim/lamb.h"

#include <array>

#include "optim/adam_moments.h"
#include "optim/option_checks.h"

namespace lockstep::optim {
namespace {

float direction(float value, float mean, float square, float weight_decay, const AdamCoefficients& c) {
  return adam_direction(mean, square, c) + weight_decay * value;
}

void update_moments(const float* __restrict gradient, float divisor, float* __restrict mean,
                    float* __restrict square, int64_t count, const AdamCoefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] / divisor;
    mean[i] = adam_mean(mean[i], g, c);
    square[i] = adam_square(square[i], g, c);
  }
}

TrustSums sums_of_block(const float* __restrict value, const float* __restrict mean,
                        const float* __restrict square, int64_t count, float weight_decay,
                        const AdamCoefficients c) {
  std::array<float, kNormBlock> u;
  for (int64_t i = 0; i < count; ++i) {
    u[static_cast<size_t>(i)] = direction(value[i], mean[i], square[i], weight_decay, c);
  }
  return {sum_of_squares(value, count), sum_of_squares(u.data(), count)};
}

void update_values(float* __restrict value, const float* __restrict mean, const float* __restrict square,
                   int64_t count, float rate, float weight_decay, const AdamCoefficients c) {
  for (int64_t i = 0; i < count; ++i) {
    value[i] -= rate * direction(value[i], mean[i], square[i], weight_decay, c);
  }
}

const OptimizerOptions& checked(const OptimizerOptions& options) {
  check_betas("lamb", options);
  check_positive_epsilon("lamb", options);
  return options;
}

}  // namespace

Lamb::Lamb(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options)
    : Optimizer(std::move(parameters), {.buffers = {"exp_avg", "exp_avg_sq"}, .counts_steps = true}),
      options_(checked(options)),
      norms_(counts()) {}

/// Two passes, since no element may move before the norms of its parameter are known. The second computes u
/// again instead of reading it from memory.
void Lamb::update(const StepOptions& options) {
  const AdamCoefficients adam = adam_coefficients(options_, steps());
  const auto divisor = static_cast<float>(options.gradient_divisor);
  const std::vector<TrustNorms> norms = norms_.measure([&](const SegmentNorms::Block& block) -> TrustSums {
    const Piece part = piece(block.segment, block.begin, block.count);
    float* const mean = buffer(0) + part.flat_begin;
    float* const square = buffer(1) + part.flat_begin;
    update_moments(part.gradient(), divisor, mean, square, part.count, adam);
    if (!part.parameter.trust) return {};
    return sums_of_block(part.value(), mean, square, part.count,
                         static_cast<float>(part.parameter.weight_decay), adam);
  });
  for_each_piece([&](const Piece& piece) {
    const auto [weight, u] = norms[piece.index];
    const double ratio = weight > 0 && u > 0 ? weight / u : 1;
    update_values(piece.value(), buffer(0) + piece.flat_begin, buffer(1) + piece.flat_begin, piece.count,
                  static_cast<float>(options.lr * piece.parameter.lr_factor * ratio),
                  static_cast<float>(piece.parameter.weight_decay), adam);
  });
}

}  // namespace lockstep::optim

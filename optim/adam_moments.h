// The moving means of a gradient and of its square, and the direction that they give: what Adam's relatives
// share. With t steps done, the current one included:
//
//     m = beta1 * m + (1 - beta1) * g
//     v = beta2 * v + (1 - beta2) * g^2
//     direction = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// Source: Kingma and Ba 2015, "Adam", algorithm 1. The divisors correct that m and v begin at 0; as in
// PyTorch the second is applied after the root. Each operation is rounded to f32, the coefficients once.
#pragma once

#include <cmath>
#include <cstdint>

#include "optim/optimizer.h"

namespace lockstep::optim {

struct AdamCoefficients {
  float beta1;
  float rest1;  ///< 1 - beta1
  float beta2;
  float rest2;
  float mean_scale;  ///< 1 / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
  float epsilon;
};

inline AdamCoefficients adam_coefficients(const OptimizerOptions& options, int64_t t) {
  const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t));
  return {static_cast<float>(options.beta1),   static_cast<float>(1 - options.beta1),
          static_cast<float>(options.beta2),   static_cast<float>(1 - options.beta2),
          static_cast<float>(1 / correction1), static_cast<float>(1 / std::sqrt(correction2)),
          static_cast<float>(options.epsilon)};
}

inline float adam_mean(float mean, float gradient, const AdamCoefficients& c) {
  return c.beta1 * mean + c.rest1 * gradient;
}

inline float adam_square(float square, float gradient, const AdamCoefficients& c) {
  return c.beta2 * square + c.rest2 * gradient * gradient;
}

inline float adam_direction(float mean, float square, const AdamCoefficients& c) {
  return mean * c.mean_scale / (std::sqrt(square) * c.root_scale + c.epsilon);
}

}  // namespace lockstep::optim

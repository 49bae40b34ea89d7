// Evolved sign momentum: every weight moves by the learning rate, up or down, and there is one buffer.
//
//     g  = gradient / divisor
//     c  = beta1 * m + (1 - beta1) * g
//     w -= lr * lr_factor * (sign(c) + weight_decay * w),   sign(0) = 0
//     m  = beta2 * m + (1 - beta2) * g
//
// Each operation is rounded to f32, the coefficients once.
//
// Source: Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2; there beta1 is 0.9
// and beta2 0.99, the rate 3 to 10 times lower than AdamW's and the decay as much higher.
#pragma once

#include <vector>

#include "optim/optimizer.h"

namespace lockstep::optim {

class Lion final : public Optimizer {
 public:
  /// Reads beta1 and beta2 (in [0, 1)). State: "exp_avg", m.
  Lion(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options);

 private:
  void update(const StepOptions& options) override;

  OptimizerOptions options_;
};

}  // namespace lockstep::optim

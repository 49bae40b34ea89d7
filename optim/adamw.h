// Adam with decoupled weight decay. m, v and direction: adam_moments.h, with g = gradient / divisor.
//
//     w -= lr * lr_factor * weight_decay * w
//     w -= lr * lr_factor * direction
//
// Decay is no part of the gradient, so the means do not see it and the direction does not scale it; it does
// follow the learning rate. Each operation is rounded to f32, the factor 1 - lr * lr_factor * weight_decay
// once.
//
// Source: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2, in the form of
// torch.optim.AdamW, where the decay is times the full rate and not its schedule's multiplier alone.
#pragma once

#include <vector>

#include "optim/optimizer.h"

namespace lockstep::optim {

class AdamW final : public Optimizer {
 public:
  /// Reads beta1, beta2 (in [0, 1)) and epsilon (> 0). State: "exp_avg", m; "exp_avg_sq", v; the steps.
  AdamW(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options);

 private:
  void update(const StepOptions& options) override;

  OptimizerOptions options_;
};

}  // namespace lockstep::optim

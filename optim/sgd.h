// Stochastic gradient descent with momentum, PyTorch's form: the learning rate stays outside the momentum
// buffer, so changing it needs no correction (Goyal et al. 2017, "Accurate, Large Minibatch SGD", remark 2).
//
//     g       = gradient / divisor + weight_decay * w
//     buffer  = momentum * buffer + g
//     w      -= lr * lr_factor * d,   d = buffer,   with nesterov d = g + momentum * buffer
//
// Decay comes after averaging, since it is no part of the loss (their remark 1). The buffer is zero at first,
// so it equals g in the first step.
//
// Each operation is rounded to f32; the coefficients are rounded to f32 once. Without momentum there is no
// buffer, d = g. Source: torch.optim.SGD with dampening 0.
#pragma once

#include <vector>

#include "optim/optimizer.h"

namespace lockstep::optim {

class Sgd final : public Optimizer {
 public:
  /// Reads momentum (in [0, 1)) and nesterov (needs momentum > 0). State: "momentum_buffer".
  Sgd(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options);

 private:
  void update(const StepOptions& options) override;

  float momentum_;
  bool nesterov_;
};

}  // namespace lockstep::optim

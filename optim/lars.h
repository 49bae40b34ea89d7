// Layer-wise adaptive rate scaling: SGD with momentum whose learning rate is, for each parameter, in
// proportion to the norm of its weights over that of its gradient.
//
//     g      = gradient / divisor
//     ratio  = trust_coefficient * |w| / (|g| + weight_decay * |w| + epsilon)
//     v      = momentum * v + lr * lr_factor * ratio * (g + weight_decay * w)
//     w     -= v,   with nesterov w -= lr * lr_factor * ratio * (g + weight_decay * w) + momentum * v
//
// The ratio is 1 where |w| or |g| is 0, and for parameters without trust, which by default (apply_rules())
// take no decay either. Norms are of the whole parameter, in double (segment_norms.h); each other operation
// is rounded to f32, the rate lr * lr_factor * ratio once.
//
// Source: You, Gitman and Ginsburg 2017, "Large Batch Training of Convolutional Networks", equation 6 and
// algorithm 1, in the form of MLPerf's reference (tensorflow/models, lars_optimizer.py), which adds epsilon,
// the rule for zero norms and the parameters left out. The rate is inside the buffer: what was accumulated
// keeps the rate of its time. Forms with the rate outside (Apex LARC and others) are other optimizers as soon
// as the rate changes.
//
// The ratio is at most trust_coefficient / weight_decay. It hides the gradient's scale: without decay and
// epsilon, a gradient times any factor takes the same step.
#pragma once

#include <vector>

#include "optim/optimizer.h"
#include "optim/segment_norms.h"

namespace lockstep::optim {

class Lars final : public Optimizer {
 public:
  /// Reads momentum (in [0, 1)), nesterov (needs momentum > 0), epsilon (>= 0) and trust_coefficient (> 0).
  /// State: "momentum_buffer", v.
  Lars(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options);

 private:
  void update(const StepOptions& options) override;
  std::vector<float> rates(const StepOptions& options);

  OptimizerOptions options_;
  SegmentNorms norms_;
};

}  // namespace lockstep::optim

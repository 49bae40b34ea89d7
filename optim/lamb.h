// Adam for large batches: the step of each parameter is in proportion to the norm of its weights. m, v and
// direction: adam_moments.h, with g = gradient / divisor.
//
//     u      = direction + weight_decay * w
//     ratio  = |w| / |u|
//     w     -= lr * lr_factor * ratio * u
//
// The ratio is 1 where |w| or |u| is 0, and for parameters without trust, which by default (apply_rules())
// take no decay either. Norms are of the whole parameter, in double (segment_norms.h); each other operation
// is rounded to f32, the rate lr * lr_factor * ratio once.
//
// Source: You et al. 2020, "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
// algorithm 2, with bias correction and with the identity as phi: the ratio has no bounds. Unlike Apex' form
// it clips no global norm, and a parameter without decay has a ratio if its trust says so.
#pragma once

#include <vector>

#include "optim/optimizer.h"
#include "optim/segment_norms.h"

namespace lockstep::optim {

class Lamb final : public Optimizer {
 public:
  /// Reads beta1, beta2 (in [0, 1)) and epsilon (> 0; the paper's code has 1e-6). State: "exp_avg", m;
  /// "exp_avg_sq", v; the steps.
  Lamb(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options);

 private:
  void update(const StepOptions& options) override;

  OptimizerOptions options_;
  SegmentNorms norms_;
};

}  // namespace lockstep::optim

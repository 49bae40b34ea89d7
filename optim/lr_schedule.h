// Learning rates as pure functions of the optimizer step. `step` counts the optimizer steps done before, so
// the first step has step 0; ranks, micro-batches and accumulation do not appear, and skipped steps do not
// count.
//
// Warm-up, W = warmup_steps:   lr(step) = lr * (start + (1 - start) * (step + 1) / W)   for step < W.
// The last step of warm-up has exactly the full lr, and no step has lr 0 (Goyal et al. 2017, "gradual
// warmup", with a constant increment per step; their start is 1/k). After that, with progress p = (step - W)
// / (total_steps - W):
//
//     constant     lr
//     multi_step   lr * gamma^(milestones <= step); they count from the start, not from the end of warm-up
//     polynomial   end_lr + (lr - end_lr) * (1 - p)^power
//     cosine       end_lr + (lr - end_lr) * (1 + cos(pi p)) / 2
//
// (cosine: Loshchilov and Hutter 2017, without restarts.)
//
// At and beyond total_steps p is 1.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::optim {

struct ScheduleOptions {
  double lr = 0.1;                       ///< the full learning rate, reached at the end of warm-up
  int64_t total_steps = 0;               ///< of the whole training
  int64_t warmup_steps = 0;              ///< 0: none
  double warmup_start = 0;               ///< the factor from which warm-up climbs, in [0, 1]
  std::vector<int64_t> milestones = {};  ///< steps, in order
  double gamma = 0.1;
  double power = 2;
  double end_lr = 0;
};

/// A length in epochs (of the config) as a number of steps, rounded to the nearest; the only place that
/// converts.
int64_t steps_of(double epochs, int64_t steps_per_epoch);

/// The learning rate after warm-up.
using ScheduleShape = double (*)(const ScheduleOptions& options, int64_t step);
double constant(const ScheduleOptions& options, int64_t step);
double multi_step(const ScheduleOptions& options, int64_t step);
double polynomial(const ScheduleOptions& options, int64_t step);
double cosine(const ScheduleOptions& options, int64_t step);

/// A shape with its warm-up.
class LrSchedule {
 public:
  /// Throws ConfigError naming the first option that is out of range.
  LrSchedule(ScheduleShape shape, const ScheduleOptions& options);
  double operator()(int64_t step) const;

 private:
  ScheduleShape shape_;
  ScheduleOptions options_;
};

}  // namespace lockstep::optim

#include "train/training_plan.h"

#include <algorithm>
#include <limits>

#include "runtime/error.h"

namespace lockstep::train {

TrainingPlan::TrainingPlan(const TrainingPlanOptions& options) : options_(options) {
  const auto& [samples, global_batch, epochs, max_steps, drop_last] = options_;
  check<ConfigError>(global_batch > 0, "train", "global_batch must be positive, got ", global_batch);
  check<ConfigError>(epochs > 0 || max_steps > 0, "train",
                     "epochs or max_steps must limit the run, both are 0");
  steps_per_epoch_ = drop_last ? samples / global_batch : (samples + global_batch - 1) / global_batch;
  check<ConfigError>(steps_per_epoch_ > 0, "train", "0 steps per epoch: the data has ", samples,
                     " samples, global_batch is ", global_batch, drop_last ? ", and drop_last is set" : "");
  const int64_t unlimited = std::numeric_limits<int64_t>::max();
  const int64_t by_epochs =
      epochs > 0 && epochs <= unlimited / steps_per_epoch_ ? epochs * steps_per_epoch_ : unlimited;
  total_steps_ = std::min(by_epochs, max_steps > 0 ? max_steps : unlimited);
}

int64_t TrainingPlan::batch_at(const Position& position) const {
  return std::min(options_.global_batch, options_.samples - position.sample);
}

Position TrainingPlan::after(const Position& position) const {
  const int64_t batch = batch_at(position);
  Position next{position.step + 1, position.epoch, position.sample + batch, position.samples + batch};
  const int64_t left = options_.samples - next.sample;
  if (left == 0 || (options_.drop_last && left < options_.global_batch)) {
    next.sample = 0;
    ++next.epoch;
  }
  return next;
}

}  // namespace lockstep::train

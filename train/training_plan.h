// Which samples each step takes, and how many steps there are; one whose update is skipped has used its
// samples and counts. A pure function of the configuration: ranks do not appear, so a run can go on with
// another number of them.
#pragma once

#include <cstdint>

namespace lockstep::train {

/// What comes next: everything before it is done. A checkpoint stores it.
struct Position {
  int64_t step = 0;     ///< steps done, skipped ones included
  int64_t epoch = 0;    ///< epochs finished
  int64_t sample = 0;   ///< samples of the current epoch's order that are used up
  int64_t samples = 0;  ///< samples used since the start of the run
  bool operator==(const Position&) const = default;
};

struct TrainingPlanOptions {
  int64_t samples = 0;  ///< in the data
  int64_t global_batch = 0;
  int64_t epochs = 0;     ///< 0: no limit
  int64_t max_steps = 0;  ///< 0: no limit
  bool drop_last = false;
};

class TrainingPlan {
 public:
  /// Throws ConfigError with the numbers when no step can be made, or when neither epochs nor max_steps
  /// limits the run.
  explicit TrainingPlan(const TrainingPlanOptions& options);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t total_steps() const { return total_steps_; }
  bool finished(const Position& position) const { return position.step >= total_steps_; }

  /// How many samples the step at `position` takes: global_batch, or what is left of the epoch.
  int64_t batch_at(const Position& position) const;
  Position after(const Position& position) const;

 private:
  TrainingPlanOptions options_;
  int64_t steps_per_epoch_;
  int64_t total_steps_;
};

}  // namespace lockstep::train

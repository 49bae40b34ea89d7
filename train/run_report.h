// What rank 0 tells the world about a run: metrics.jsonl, event files for TensorBoard, progress on the
// terminal, train.log, and curves at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "parallel/data_parallel.h"
#include "proto/train_config.pb.h"
#include "train/evaluation.h"
#include "train/event_file.h"
#include "train/metrics.h"
#include "train/progress.h"
#include "train/training_plan.h"
#include "train/weights_hash.h"

namespace lockstep::train {

struct StepReport {
  Position position;  ///< after the step
  Measured measured;
  double lr = 0;
  double loss_scale = 1;
  int64_t skipped_steps = 0;              ///< since the start of the run
  parallel::StepTimes times;              ///< of rank 0
  std::chrono::nanoseconds optimizer{0};  ///< of rank 0: gradients checked, weights updated and averaged
  std::chrono::nanoseconds data_wait{0};  ///< of rank 0, since the start
  std::optional<WeightsHash> weights;
};

/// "accuracy 91.50 %, loss 0.2345 (10000 items)".
std::string evaluation_text(const Measured& result);

class RunReport {
 public:
  RunReport(const TrainConfig& config, const TrainingPlan& plan);

  /// Opens the files in a run directory; cuts what was written after `position`, where the run goes on.
  void open(const std::string& output, const Position& position);
  void step(const StepReport& report);
  /// A warning in the log, above the progress.
  void warn(const std::string& text);
  void evaluation(const Position& position, const Measured& result);
  /// Draws the curves and says where everything is.
  void finish(const std::string& output);

  /// Seconds of training, those before the last resume included.
  double wall_time() const;
  void add_wall_time(double seconds) { earlier_wall_time_ += seconds; }

 private:
  using Clock = std::chrono::steady_clock;

  void write_metrics(const StepReport& report, Clock::time_point now);
  std::vector<std::pair<std::string, double>> phases(const StepReport& report, double span) const;
  void write_events(const StepRecord& record);
  EventFile& events();
  void show_progress(const StepReport& report);
  int64_t epoch_of(const Position& position) const;

  const TrainConfig& config_;
  const TrainingPlan& plan_;
  std::optional<MetricsWriter> metrics_;
  std::string events_folder_;
  std::optional<EventFile> events_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  Position start_position_;
  double earlier_wall_time_ = 0;
  // At the last metrics line, for rates.
  Clock::time_point last_line_;
  Position last_position_;
  parallel::StepTimes times_;
  std::chrono::nanoseconds optimizer_{0};
  std::chrono::nanoseconds last_data_wait_{0};
  bool first_step_done_ = false;
};

}  // namespace lockstep::train

// The training loop of one rank. All ranks run it in step: every decision (stop, save, resume) is made from
// reduced data.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/loader.h"
#include "models/module.h"
#include "optim/lr_schedule.h"
#include "optim/optimizer.h"
#include "parallel/consistency.h"
#include "parallel/data_parallel.h"
#include "parallel/loss_scaler.h"
#include "proto/train_config.pb.h"
#include "train/best_so_far.h"
#include "train/checkpoint.h"
#include "train/extensions.h"
#include "train/objective.h"
#include "train/profiler.h"
#include "train/requests.h"
#include "train/run_directory.h"
#include "train/run_report.h"
#include "train/training_plan.h"
#include "train/weight_average.h"

namespace lockstep::train {

struct TrainerOptions {
  std::string output;  ///< run directory, the same on all ranks
  /// "": start anew, "latest": the newest checkpoint of `output` if there is one, else a path.
  std::string resume;
  /// Save and stop after this step, at once where a resumed run is that far already; 0: none.
  int64_t stop_at_step = 0;
  /// Per rank, resolved. Where the configuration leaves it open, a resumed run takes its checkpoint's.
  int threads = 1;
  /// Library versions and the like that must be equal on all ranks, beside what the trainer compares anyway.
  std::vector<parallel::Fact> facts;
  ProfileOptions profile = {};
  Extensions own = {};  ///< the program's models, data, losses and so on
};

enum class Outcome {
  kFinished,
  kStopped,  ///< on request; a checkpoint holds everything
};

/// Everything is built by the constructor, nothing is written before run(). The communicator and the requests
/// must outlive it.
class Trainer {
 public:
  Trainer(const TrainConfig& config, comm::Communicator& communicator, Requests& requests,
          const TrainerOptions& options);

  /// Collective. Compares the ranks, resumes if asked to, trains, evaluates, writes checkpoints and at the
  /// end the model.
  Outcome run();

 private:
  /// What all ranks know after a step.
  struct StepResult {
    Measured measured;
    double lr = 0;
    double loss_scale = 1;
    std::chrono::nanoseconds optimizer{0};
    bool save = false;
    bool stop = false;
  };

  void compare_ranks();
  void open_run();
  void begin();
  void share_state();
  void restore(const std::string& path);
  void restore_tensors(const std::string& path, const Checkpoint& checkpoint);
  void restore_best(const TrainConfig& saved, Checkpoint& checkpoint);
  void take_threads(int threads);
  StepResult timed_step();
  StepResult train_step();
  Tensor forward(const parallel::MicroBatch& micro_batch, std::span<double> sums);
  void submit(const Position& position);
  parallel::StepPlan step_plan(const Position& position) const;
  void take_step(const StepResult& result);
  void skip_step(double loss);
  std::string nonfinite_weights();
  int64_t optimizer_steps() const;
  void report(const StepResult& result);
  void evaluate_model();
  void save(bool last);
  bool weights_can_be_saved(bool last);
  bool finished() const;
  bool stop_step_is_reached() const;
  bool evaluation_is_due() const;
  bool checkpoint_is_due() const;
  void write_weights(const char* why, const std::string& path);
  void write_model();
  std::chrono::milliseconds checkpoint_timeout() const;

  TrainConfig config_;          // with the precision that is computed in
  std::string precision_note_;  // why that is not the one asked for; empty where it is
  comm::Communicator& communicator_;
  Requests& requests_;
  TrainerOptions options_;

  Profiler profiler_;
  Objective objective_;
  BestSoFar best_;
  std::unique_ptr<data::DataSource> train_source_;
  std::unique_ptr<data::DataSource> test_source_;
  int64_t train_samples_;
  data::Sampler sampler_;
  std::unique_ptr<models::Module> model_;
  std::vector<Parameter*> parameters_;  // those that are not frozen
  parallel::DistributedDataParallel data_parallel_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<WeightAverage> average_;  // null: none
  TrainingPlan plan_;
  optim::LrSchedule schedule_;
  parallel::LossScaler loss_scaler_;
  data::Loader loader_;
  RunReport report_;

  std::unique_ptr<RunLock> lock_;  // rank 0's
  Position position_;
};

}  // namespace lockstep::train

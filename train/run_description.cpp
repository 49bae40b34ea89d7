#include "train/run_description.h"

#include <algorithm>
#include <limits>

#include "build_config.h"
#include "parallel/step_plan.h"
#include "runtime/error.h"
#include "train/assembly.h"
#include "train/loss_scaling.h"

namespace lockstep::train {
namespace {

std::string counted(int64_t count, const std::string& what) {
  return to_text(count, ' ', what, count == 1 ? "" : "s");
}

struct Range {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  void add(int64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::string text() const { return least == most ? to_text(most) : to_text(least, " to ", most); }
};

std::string codec_text(TrainConfig::Comm::Codec codec) {
  const std::string& name = TrainConfig::Comm::Codec_Name(codec);
  return to_text("codec: ", name,
                 codec == TrainConfig::Comm::NONE
                     ? " (gradients are added and sent in FP32)"
                     : " (gradients are added in FP32, rounded and sent in " + name + ")");
}

std::string batch_text(const TrainConfig& config, int ranks) {
  Range samples;
  Range micro_batches;
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t rank_samples = 0;
    int64_t rank_micro_batches = 0;
    const parallel::StepPlan step =
        parallel::plan_step(config.global_batch(), config.micro_batch(), config.virtual_ranks(), ranks, rank);
    for (const parallel::Slot& slot : step.slots) {
      for (const parallel::MicroBatch& micro_batch : slot.micro_batches) {
        rank_samples += micro_batch.count;
        ++rank_micro_batches;
      }
    }
    samples.add(rank_samples);
    micro_batches.add(rank_micro_batches);
  }
  return to_text("batch: ", config.global_batch(), " samples in all; per rank ", samples.text(),
                 ", accumulated over ", micro_batches.text(), " micro-batches of ", config.micro_batch());
}

std::string learning_rate_text(const TrainConfig& config, const TrainingPlan& plan) {
  const TrainConfig::Schedule& schedule = config.schedule();
  const std::string rule =
      schedule.scaling() == TrainConfig::Schedule::LINEAR
          ? to_text(" x global_batch ", config.global_batch(), " / base_batch ", schedule.base_batch())
          : ", whatever the batch";
  return to_text("learning rate: ", scaled_lr(config), " = base ", config.optimizer().lr(), rule,
                 " (schedule.scaling: ", TrainConfig::Schedule::Scaling_Name(schedule.scaling()), "); ",
                 schedule.name(), " over ", counted(plan.total_steps(), "step"));
}

std::string loss_scale_text(const TrainConfig& config) {
  const TrainConfig::LossScaling& scaling = config.loss_scaling();
  const std::string scale = "loss scale: " + parallel::scale_text(config.loss_scale());
  if (scaling.mode() == TrainConfig::LossScaling::STATIC) return scale + ", static";
  return scale + to_text(" at first, doubled after ", counted(scaling.growth_interval(), "clean step"),
                         ", halved where a gradient is not finite; from ",
                         parallel::scale_text(scaling.floor()), " to ", parallel::scale_text(scaling.cap()));
}

}  // namespace

std::vector<std::string> describe_run(const TrainConfig& config, const TrainingPlan& plan,
                                      const RunSize& size) {
  std::vector<std::string> lines;
  lines.push_back(to_text(kBuildDescription, "; ", counted(size.ranks, "rank"), " x ",
                          counted(size.threads, "thread"), ", ",
                          config.numerics() == TrainConfig::REPRODUCIBLE
                              ? "the same bits on any number of ranks (with as many threads each)"
                              : "bits depend on the number of ranks (numerics: FAST)"));
  if (config.threads() == 0) {
    lines.emplace_back("threads: chosen for this machine; bits are comparable at the same number only");
  }
  lines.emplace_back(config.precision() == TrainConfig::BF16
                         ? "precision: BF16 (weights, sums, statistics and losses in FP32)"
                         : "precision: FP32");
  if (size.ranks > 1) lines.push_back(size.communication);
  lines.push_back(codec_text(config.comm().codec()));
  if (scales_losses(config)) lines.push_back(loss_scale_text(config));
  lines.push_back(batch_text(config, size.ranks));
  lines.push_back(learning_rate_text(config, plan));
  return lines;
}

}  // namespace lockstep::train

#include "train/loss_scaling.h"

#include "runtime/error.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

bool is_dynamic(const TrainConfig& config) {
  return config.loss_scaling().mode() == TrainConfig::LossScaling::DYNAMIC;
}

}  // namespace

bool scales_losses(const TrainConfig& config) {
  return is_dynamic(config) || config.loss_scale() != 1;
}

parallel::LossScalerOptions loss_scaler_options(const TrainConfig& config) {
  const TrainConfig::LossScaling& scaling = config.loss_scaling();
  return {.dynamic = is_dynamic(config),
          .initial = config.loss_scale(),
          .growth_interval = scaling.growth_interval(),
          .floor = scaling.floor(),
          .cap = scaling.cap(),
          .most_skips_in_a_row = scaling.max_skips_in_a_row()};
}

CheckpointState::LossScaler to_proto(const parallel::LossScalerState& state) {
  CheckpointState::LossScaler saved;
  saved.set_scale(state.scale);
  saved.set_good_steps(state.clean_steps);
  saved.set_skipped_steps(state.skipped_steps);
  saved.set_skips_in_a_row(state.skips_in_a_row);
  return saved;
}

parallel::LossScalerState resumed_loss_scaler(const CheckpointState& saved, const TrainConfig& config) {
  TrainConfig before = saved.config();
  fill_defaults(before);  // an older build's lacks the newer fields
  const bool goes_on = saved.has_loss_scaler() && before.loss_scale() == config.loss_scale();
  const CheckpointState::LossScaler& scaler = saved.loss_scaler();
  return {.scale = goes_on ? scaler.scale() : config.loss_scale(),
          .clean_steps = scaler.good_steps(),
          .skips_in_a_row = scaler.skips_in_a_row(),
          .skipped_steps = scaler.skipped_steps()};
}

std::string skip_text(const BadStep& bad, double scale_before, const parallel::LossScalerState& after) {
  const std::string what = bad.parameter.empty()
                               ? to_text("the loss is ", bad.loss, ", its gradient finite")
                               : to_text("non-finite gradient of ", bad.parameter, ' ', bad.place);
  return to_text("step ", bad.step, ": ", what, "; step skipped, loss scale ",
                 parallel::scale_text(scale_before), " -> ", parallel::scale_text(after.scale), " (",
                 after.skips_in_a_row, after.skips_in_a_row == 1 ? " skip" : " skips", " in a row)");
}

std::string collapse_text(const BadStep& bad, const TrainConfig& config,
                          const parallel::LossScalerState& after, const std::string& weights) {
  std::string text = to_text("[train] at step ", bad.step, " the loss is ", bad.loss,
                             "; the first parameter whose gradient is not finite: ",
                             bad.parameter.empty() ? "none" : bad.parameter + ' ' + bad.place);
  if (is_dynamic(config)) {
    text += to_text("; the loss scale has collapsed: skips in a row: ", after.skips_in_a_row, ", scale ",
                    parallel::scale_text(after.scale), ", its floor ",
                    parallel::scale_text(config.loss_scaling().floor()));
  }
  if (!weights.empty()) {
    return text + "; the weights themselves are not finite: " + weights +
           "; what may help: to go on from a checkpoint before that, a lower optimizer.lr";
  }
  return text + "; what may help: a lower optimizer.lr, a longer schedule.warmup_epochs" +
         (!is_dynamic(config) && config.loss_scale() != 1 ? ", a smaller loss_scale" : "");
}

}  // namespace lockstep::train

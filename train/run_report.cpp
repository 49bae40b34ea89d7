#include "train/run_report.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "runtime/log.h"
#include "runtime/process_memory.h"
#include "train/curves.h"
#include "train/loss_scaling.h"
#include "train/run_directory.h"

namespace lockstep::train {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Seconds since the kernel started this process, loading of libraries included.
double process_age() {
  std::ifstream stat("/proc/self/stat");
  std::ifstream uptime("/proc/uptime");
  std::string text;
  std::getline(stat, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;  // field 22 is starttime, in clock ticks since boot
  double now = 0;
  uptime >> now;
  return now - std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::string evaluation_text(const Measured& result) {
  std::string text;
  char part[128];
  for (const auto& [name, value] : result.metrics) {
    const bool share = name.ends_with("accuracy");
    std::snprintf(part, sizeof part, share ? "%s %.2f %%, " : "%s %.6g, ", name.c_str(),
                  share ? 100 * value : value);
    text += part;
  }
  std::snprintf(part, sizeof part, "loss %.4f (%lld items%s", result.loss,
                static_cast<long long>(result.weight), result.bad_samples > 0 ? ", " : ")");
  text += part;
  if (result.bad_samples > 0) text += to_text(result.bad_samples, " samples left out)");
  return text;
}

RunReport::RunReport(const TrainConfig& config, const TrainingPlan& plan)
    : config_(config), plan_(plan), progress_(progress_options_for(stderr)) {}

void RunReport::open(const std::string& output, const Position& position) {
  const RunDirectory run{output};
  truncate_metrics(run.metrics(), position.step);
  metrics_.emplace(run.metrics());
  events_folder_ = run.events();
  start_ = last_line_ = Clock::now();
  start_position_ = last_position_ = position;
}

double RunReport::wall_time() const {
  return earlier_wall_time_ + seconds(Clock::now() - start_);
}

void RunReport::step(const StepReport& report) {
  if (!first_step_done_) log::info("first step done ", process_age(), " s after the start");
  first_step_done_ = true;
  times_.forward += report.times.forward;
  times_.backward += report.times.backward;
  times_.communication += report.times.communication;
  optimizer_ += report.optimizer;
  const bool last = plan_.finished(report.position);
  if (report.position.step % config_.metrics().every() == 0 || last || report.weights) {
    write_metrics(report, Clock::now());
  }
  show_progress(report);
}

void RunReport::write_metrics(const StepReport& report, Clock::time_point now) {
  StepRecord record;
  record.step = report.position.step;
  record.epoch = epoch_of(report.position);
  record.samples = report.position.samples;
  record.loss = report.measured.loss;
  record.lr = report.lr;
  const double span = seconds(now - last_line_);
  record.samples_per_second = static_cast<double>(report.position.samples - last_position_.samples) / span;
  record.wall_time = wall_time();
  record.weights = report.weights;
  record.other = report.measured.metrics;
  if (scales_losses(config_)) {
    record.other.emplace_back("loss_scale", report.loss_scale);
    record.other.emplace_back("skipped_steps", static_cast<double>(report.skipped_steps));
  }
  for (auto& phase : phases(report, span)) record.other.push_back(std::move(phase));
  const ProcessMemory memory = process_memory();
  record.other.emplace_back("memory_bytes", static_cast<double>(memory.resident));
  record.other.emplace_back("peak_memory_bytes", static_cast<double>(memory.peak));
  if (report.measured.bad_samples > 0) {
    record.other.emplace_back("bad_samples", static_cast<double>(report.measured.bad_samples));
  }
  metrics_->write(record);
  write_events(record);
  last_line_ = now;
  last_position_ = report.position;
  last_data_wait_ = report.data_wait;
  times_ = {};
  optimizer_ = {};
}

/// Where the seconds since the last line went; together they are `span`.
std::vector<std::pair<std::string, double>> RunReport::phases(const StepReport& report, double span) const {
  const double data = seconds(report.data_wait - last_data_wait_);
  const double forward = seconds(times_.forward) - data;
  const double backward = seconds(times_.backward);
  const double communication = seconds(times_.communication);
  const double optimizer = seconds(optimizer_);
  return {{"data_seconds", data},
          {"forward_seconds", forward},
          {"backward_seconds", backward},
          {"communication_seconds", communication},
          {"optimizer_seconds", optimizer},
          {"other_seconds", span - data - forward - backward - communication - optimizer}};
}

void RunReport::write_events(const StepRecord& record) {
  if (!config_.metrics().tensorboard()) return;
  std::vector<Scalar> scalars{{"train/loss", record.loss},
                              {"train/lr", record.lr},
                              {"train/samples_per_second", record.samples_per_second}};
  for (const auto& [name, value] : record.other) scalars.push_back({"train/" + name, value});
  events().write(record.step, scalars);
}

/// Begun with the first values: a run that turns out to be finished has none.
EventFile& RunReport::events() {
  if (!events_) events_.emplace(events_folder_, start_position_.step + 1);
  return *events_;
}

/// The epoch that the step before `position` belongs to, from 1.
int64_t RunReport::epoch_of(const Position& position) const {
  return position.sample == 0 ? position.epoch : position.epoch + 1;
}

void RunReport::show_progress(const StepReport& report) {
  const double elapsed = seconds(Clock::now() - start_);
  const auto done = static_cast<double>(report.position.samples - start_position_.samples);
  const double rate = done / elapsed;
  ProgressState state;
  state.step = report.position.step;
  state.total_steps = plan_.total_steps();
  state.epoch = epoch_of(report.position);
  state.epochs = config_.epochs();
  state.loss = report.measured.loss;
  state.lr = report.lr;
  state.samples_per_second = rate;
  if (config_.loss_scaling().mode() == TrainConfig::LossScaling::DYNAMIC)
    state.loss_scale = report.loss_scale;
  const auto steps_done = static_cast<double>(report.position.step - start_position_.step);
  state.left = std::chrono::duration<double>(elapsed / steps_done *
                                             static_cast<double>(plan_.total_steps() - report.position.step));
  progress_.update(state);
}

void RunReport::warn(const std::string& text) {
  progress_.clear();
  log::warning(text);
}

void RunReport::evaluation(const Position& position, const Measured& result) {
  metrics_->write(EvaluationRecord{.step = position.step,
                                   .epoch = epoch_of(position),
                                   .loss = result.loss,
                                   .metrics = result.metrics,
                                   .count = static_cast<int64_t>(result.weight),
                                   .bad_samples = result.bad_samples});
  if (config_.metrics().tensorboard()) {
    std::vector<Scalar> scalars{{"eval/loss", result.loss}};
    for (const auto& [name, value] : result.metrics) scalars.push_back({"eval/" + name, value});
    events().write(position.step, scalars);
    events().flush();
  }
  progress_.clear();
  log::info("epoch ", epoch_of(position), ": test ", evaluation_text(result));
}

void RunReport::finish(const std::string& output) {
  const RunDirectory run{output};
  progress_.clear();
  log::info("finished after ", duration_text(std::chrono::duration<double>(wall_time())));
  const bool drawn =
      config_.metrics().curves() &&
      draw_curves(run, {.title = to_text(config_.model().name(), " on ", config_.data().name())});
  log::info("model:       ", run.model());
  log::info("metrics:     ", run.metrics());
  log::info("checkpoints: ", run.checkpoints());
  if (drawn) log::info("curves:      ", run.curves());
}

}  // namespace lockstep::train

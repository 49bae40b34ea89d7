#include "optim/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/error.h"

namespace lockstep::optim {
namespace {

double progress(const ScheduleOptions& options, int64_t step) {
  const int64_t length = options.total_steps - options.warmup_steps;
  const int64_t done = step - options.warmup_steps;
  return done < length ? static_cast<double>(done) / static_cast<double>(length) : 1.0;
}

void check_options(const ScheduleOptions& options) {
  const auto check_option = [](bool valid, const char* field, const char* expected, auto got) {
    check<ConfigError>(valid, "schedule", field, ": expected ", expected, ", got ", got);
  };
  check_option(std::isfinite(options.lr) && options.lr >= 0, "lr", "a number >= 0", options.lr);
  check_option(options.total_steps >= 0, "total_steps", "a number >= 0", options.total_steps);
  check_option(options.warmup_steps >= 0, "warmup_steps", "a number >= 0", options.warmup_steps);
  check_option(options.warmup_start >= 0 && options.warmup_start <= 1, "warmup_start", "a number from 0 to 1",
               options.warmup_start);
  check_option(std::isfinite(options.gamma) && options.gamma >= 0, "gamma", "a number >= 0", options.gamma);
  check_option(std::isfinite(options.power) && options.power > 0, "power", "a number > 0", options.power);
  check_option(std::isfinite(options.end_lr) && options.end_lr >= 0, "end_lr", "a number >= 0",
               options.end_lr);
  for (size_t i = 0; i < options.milestones.size(); ++i) {
    const int64_t previous = i == 0 ? 0 : options.milestones[i - 1];
    check_option(options.milestones[i] >= previous, "milestones", "steps in increasing order",
                 options.milestones[i]);
  }
}

}  // namespace

int64_t steps_of(double epochs, int64_t steps_per_epoch) {
  return std::llround(epochs * static_cast<double>(steps_per_epoch));
}

double constant(const ScheduleOptions& options, int64_t) {
  return options.lr;
}

double multi_step(const ScheduleOptions& options, int64_t step) {
  double lr = options.lr;
  for (const int64_t milestone : options.milestones) {
    if (milestone <= step) lr *= options.gamma;
  }
  return lr;
}

double polynomial(const ScheduleOptions& options, int64_t step) {
  const double rest = std::pow(1 - progress(options, step), options.power);
  return options.end_lr + (options.lr - options.end_lr) * rest;
}

double cosine(const ScheduleOptions& options, int64_t step) {
  const double rest = (1 + std::cos(std::numbers::pi * progress(options, step))) / 2;
  return options.end_lr + (options.lr - options.end_lr) * rest;
}

LrSchedule::LrSchedule(ScheduleShape shape, const ScheduleOptions& options)
    : shape_(shape), options_(options) {
  check_options(options_);
}

double LrSchedule::operator()(int64_t step) const {
  const int64_t warmup = options_.warmup_steps;
  if (step >= warmup) return shape_(options_, step);
  const double climbed = static_cast<double>(step + 1) / static_cast<double>(warmup);
  return options_.lr * std::lerp(options_.warmup_start, 1.0, climbed);
}

}  // namespace lockstep::optim

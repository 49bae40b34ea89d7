// The optimizers and learning-rate schedules that a config can name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/lr_schedule.h"
#include "optim/optimizer.h"

namespace lockstep::optim {

std::vector<std::string> optimizer_names();
/// Throws ConfigError with the list of names when there is no such optimizer.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                          std::vector<OptimizedParameter> parameters);

std::vector<std::string> schedule_names();
/// Throws ConfigError with the list of names when there is no such schedule.
LrSchedule make_schedule(const std::string& name, const ScheduleOptions& options);

}  // namespace lockstep::optim

// The optimizers and learning-rate schedules that a config can name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/lr_schedule.h"
#include "optim/optimizer.h"

namespace lockstep::optim {

struct OptimizerRow {
  const char* name;
  std::unique_ptr<Optimizer> (*make)(std::vector<OptimizedParameter> parameters,
                                     const OptimizerOptions& options);
};

/// Those of this library, then the program's own.
std::vector<std::string> optimizer_names(const std::vector<OptimizerRow>& own = {});
/// Throws ConfigError with the list of names when there is no such optimizer.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                          std::vector<OptimizedParameter> parameters,
                                          const std::vector<OptimizerRow>& own = {});

std::vector<std::string> schedule_names();
/// Throws ConfigError with the list of names when there is no such schedule.
LrSchedule make_schedule(const std::string& name, const ScheduleOptions& options);

}  // namespace lockstep::optim

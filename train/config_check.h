// What the fields of a configuration may hold.
#pragma once

#include <string>
#include <vector>

#include "proto/train_config.pb.h"

namespace lockstep::train {

/// The names of the plug-ins that this build contains.
struct KnownNames {
  std::vector<std::string> models;
  std::vector<std::string> data;
  std::vector<std::string> optimizers;
  std::vector<std::string> losses;
  std::vector<std::string> metrics;
  std::vector<std::string> schedules;
};

/// Throws one ConfigError that lists all mistakes, a line for each: field, value, what is allowed.
void validate(const TrainConfig& config, const KnownNames& known);

/// What depends on the number of ranks; also throws ConfigError.
void validate_for(const TrainConfig& config, int ranks);

}  // namespace lockstep::train

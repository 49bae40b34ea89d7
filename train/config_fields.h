// A configuration as a flat list, for comparing ranks field by field.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/train_config.pb.h"

namespace lockstep::train {

/// Every field that is set with its full name, as ("optimizer.lr", "0.1"), in the order of the schema.
std::vector<std::pair<std::string, std::string>> config_fields(const TrainConfig& config);

}  // namespace lockstep::train

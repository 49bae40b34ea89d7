// --set: changes single fields of a configuration by name.
#pragma once

#include <string>

#include "proto/train_config.pb.h"

namespace lockstep::train {

/// Applies "optimizer.lr=0.1". A list is given with commas and replaces the old one ("model.hidden=256,128";
/// nothing after = empties it), an enum by name, a list of groups as "optimizer.rules={pattern: \"*.bias\"
/// lr_factor: 2}". Throws ConfigError: an unknown field is answered with the nearest name and the fields
/// there are, a value that does not fit with what the field takes. Ranges are not checked here.
void apply_set(TrainConfig& config, const std::string& assignment);

}  // namespace lockstep::train

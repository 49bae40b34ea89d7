// What a program brings of its own: rows beside those that this library's tables have, for its configurations
// to name.
#pragma once

#include <vector>

#include "data/formats/table.h"
#include "models/table.h"
#include "optim/table.h"
#include "train/losses.h"

namespace lockstep::train {

struct Extensions {
  std::vector<models::ModelRow> models = {};
  std::vector<data::SourceRow> sources = {};
  std::vector<optim::OptimizerRow> optimizers = {};
  std::vector<LossRow> losses = {};
  std::vector<MetricRow> metrics = {};
};

}  // namespace lockstep::train

// Loss and metrics over a data set, every sample counted exactly once, the same bits on any number of ranks.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "data/loader.h"
#include "models/module.h"
#include "train/objective.h"

namespace lockstep::train {

struct EvaluationOptions {
  int64_t samples = 0;  ///< the first ones of the source
  int64_t batch = 250;  ///< per forward pass
  int virtual_ranks = 16;
  DType compute = DType::kF32;  ///< what activations are computed in
  data::AugmentOptions augment;
  data::LoaderOptions loader;
};

/// Collective. The model is used as it is for inference: running statistics, no dropout.
/// The means are without label smoothing. Throws DataError when no item counts.
Measured evaluate(models::Module& model, const data::DataSource& source, const Objective& objective,
                  comm::Communicator& communicator, const EvaluationOptions& options);

}  // namespace lockstep::train

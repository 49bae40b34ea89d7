// Loss and accuracy over a data set, every sample counted exactly once, the same bits on any number of ranks.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "data/loader.h"
#include "models/module.h"

namespace lockstep::train {

struct EvaluationOptions {
  int64_t samples = 0;  ///< the first ones of the source
  int64_t batch = 250;  ///< per forward pass
  int virtual_ranks = 16;
  data::AugmentOptions augment;
  data::LoaderOptions loader;
};

struct EvaluationResult {
  double loss = 0;  ///< mean, without label smoothing
  double accuracy = 0;
  int64_t count = 0;
};

/// Collective. The model is used as it is for inference: running statistics, no dropout.
EvaluationResult evaluate(models::Module& model, const data::DataSource& source,
                          comm::Communicator& communicator, const EvaluationOptions& options);

}  // namespace lockstep::train

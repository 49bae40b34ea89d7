// What a run is going to do, in a few lines for whoever reads its log.
#pragma once

#include <string>
#include <vector>

#include "proto/train_config.pb.h"
#include "train/training_plan.h"

namespace lockstep::train {

struct RunSize {
  int ranks = 1;
  int threads = 1;              ///< per rank, resolved
  std::string communication{};  ///< how gradients are summed over ranks
};

/// Build, ranks and threads; whether the bits depend on them; the precision; the batch and its part for each
/// rank; base and scaled learning rate with the rule between them.
std::vector<std::string> describe_run(const TrainConfig& config, const TrainingPlan& plan,
                                      const RunSize& size);

}  // namespace lockstep::train

// What must be equal on all ranks about data, which each of them opens by itself.
#pragma once

#include <vector>

#include "data/source.h"
#include "parallel/consistency.h"
#include "proto/train_config.pb.h"

namespace lockstep::train {

/// How many samples are used, what they look like, and the name of every class: a folder that one node lacks
/// would shift the labels behind it.
std::vector<parallel::Fact> data_facts(const TrainConfig& config, const data::DataSource& source,
                                       data::Split split);

}  // namespace lockstep::train

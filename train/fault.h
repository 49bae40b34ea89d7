// Faults on purpose: what a cluster does to a rank, at a chosen step.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "proto/train_config.pb.h"

namespace lockstep::train {

/// Does to this rank what the configuration asks for, if it is the one and `step` (counted from 1) is about
/// to start.
void inject_fault(const TrainConfig::Fault& fault, comm::Communicator& communicator, int64_t step);

}  // namespace lockstep::train

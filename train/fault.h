// Faults on purpose: what a cluster does to a rank, at a chosen step.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "proto/train_config.pb.h"
#include "runtime/parameter.h"

namespace lockstep::train {

/// Does to this rank what the configuration asks for, if it is the one and `step` (counted from 1) is about
/// to start.
void inject_fault(const TrainConfig::Fault& fault, comm::Communicator& communicator, int64_t step,
                  const std::vector<Parameter*>& parameters);

/// The loss of a micro-batch with a term that gives one element of a parameter an infinite or NaN gradient,
/// if the configuration asks for that on this rank at this step; otherwise the loss itself.
Tensor with_faulty_gradient(const TrainConfig::Fault& fault, int rank, int64_t step,
                            const std::vector<Parameter*>& parameters, const Tensor& loss);

}  // namespace lockstep::train

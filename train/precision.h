// What activations are computed in, as far as the processor makes it worth while.
#pragma once

#include <string>

#include "ops/bf16_support.h"
#include "proto/train_config.pb.h"
#include "runtime/dtype.h"

namespace lockstep::train {

/// The element type of config.precision, which is FP32 or BF16.
DType compute_type(const TrainConfig& config);

/// Makes BF16 FP32 where it would not be faster, and returns a line that says why; else changes nothing and
/// returns "". A function of the processor alone, so that ranks on equal ones agree.
std::string settle_precision(TrainConfig& config, const ops::Bf16Features& features);

}  // namespace lockstep::train

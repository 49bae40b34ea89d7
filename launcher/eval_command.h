// `lockstep eval`: how good the weights of a run are, on one rank or on many.
#pragma once

#include "train/saved_model.h"

namespace lockstep::launcher {

/// Prints the figures as a line of JSON on rank 0, those that training wrote when the weights are a run's
/// last. Returns the exit status.
int eval_command(const train::SavedModelOptions& options);

}  // namespace lockstep::launcher

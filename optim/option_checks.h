// Checks of the settings that several optimizers read. `optimizer` is the name for the error's text.
#pragma once

#include "optim/optimizer.h"

namespace lockstep::optim {

/// Throws InvalidArgument unless momentum is in [0, 1), and positive for nesterov.
void check_momentum(const char* optimizer, const OptimizerOptions& options);

/// Throws InvalidArgument unless beta1 and beta2 are in [0, 1).
void check_betas(const char* optimizer, const OptimizerOptions& options);

/// Throws InvalidArgument unless epsilon is at least the smallest normal f32 number: where a gradient was
/// always 0, nothing else keeps a division from being 0 / 0.
void check_positive_epsilon(const char* optimizer, const OptimizerOptions& options);

}  // namespace lockstep::optim

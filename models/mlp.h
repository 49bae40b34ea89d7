// A multi-layer perceptron: fc1, ReLU, [dropout], fc2, ..., fcN [-> classes].
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input, classes, hidden (default 1024, 1024) and dropout; throws ConfigError when another option is
/// set, or batch norm asked for.
std::unique_ptr<Module> make_mlp(const ModelOptions& options);

}  // namespace lockstep::models

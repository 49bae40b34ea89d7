// A linear classifier: fc [inputs -> classes].
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input and classes; throws ConfigError when another option is set, or batch norm asked for.
std::unique_ptr<Module> make_linear(const ModelOptions& options);

}  // namespace lockstep::models

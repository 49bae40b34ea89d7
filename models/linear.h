// A linear classifier: fc [inputs -> classes].
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input and classes; has no hidden layers, dropout or batch norm, and throws ConfigError when asked
/// for them.
std::unique_ptr<Module> make_linear(const ModelOptions& options);

}  // namespace lockstep::models

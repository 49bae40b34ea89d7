// The models that a config can name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

struct ModelRow {
  const char* name;
  std::unique_ptr<Module> (*make)(const ModelOptions& options);
};

/// Those of this library, then the program's own.
std::vector<std::string> model_names(const std::vector<ModelRow>& own = {});

/// A model whose parameters are still to be drawn (initialize()) or loaded. Throws ConfigError with the list
/// of names when there is no such model, and naming the option when one is out of range.
std::unique_ptr<Module> make_model(const std::string& name, const ModelOptions& options,
                                   const std::vector<ModelRow>& own = {});

}  // namespace lockstep::models

#include "models/linear.h"

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {

std::unique_ptr<Module> make_linear(const ModelOptions& options) {
  check<ConfigError>(options.hidden.empty() && options.dropout == 0 && !options.batch_norm, "linear",
                     "has no hidden layers, dropout or batch norm");
  auto model = std::make_unique<Sequential>();
  model->add<Flatten>("flatten");
  model->add<Linear>("fc", options.input.count(), options.classes);
  return model;
}

}  // namespace lockstep::models

#include "models/linear.h"

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {

std::unique_ptr<Module> make_linear(const ModelOptions& options) {
  check_unread("linear", options, {});
  check<ConfigError>(!options.batch_norm, "linear", "has no batch norm");
  auto model = std::make_unique<Sequential>();
  model->add<Flatten>("flatten");
  model->add<Linear>("fc", options.input.count(), options.classes);
  return model;
}

}  // namespace lockstep::models

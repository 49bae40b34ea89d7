#include "models/mlp.h"

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {

std::unique_ptr<Module> make_mlp(const ModelOptions& options) {
  check_unread("mlp", options, {"hidden", "dropout"});
  check<ConfigError>(!options.batch_norm, "mlp", "has no batch norm");
  const std::vector<int64_t> hidden =
      options.hidden.empty() ? std::vector<int64_t>{1024, 1024} : options.hidden;
  const double dropout = options.dropout.value_or(0);
  auto model = std::make_unique<Sequential>();
  model->add<Flatten>("flatten");
  int64_t width = options.input.count();
  int number = 1;
  for (const int64_t next : hidden) {
    model->add<Linear>(to_text("fc", number), width, next);
    model->add<Relu>(to_text("relu", number));
    if (dropout > 0) model->add<Dropout>(to_text("dropout", number), dropout);
    width = next;
    ++number;
  }
  model->add<Linear>(to_text("fc", number), width, options.classes);
  return model;
}

}  // namespace lockstep::models

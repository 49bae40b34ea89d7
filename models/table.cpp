#include "models/table.h"

#include "models/cnn.h"
#include "models/linear.h"
#include "models/mlp.h"
#include "runtime/error.h"

namespace lockstep::models {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<Module> (*make)(const ModelOptions&);
};

constexpr Row kModels[] = {
    {"linear", make_linear},
    {"mlp", make_mlp},
    {"cnn", make_cnn},
};

void check_options(const ModelOptions& options) {
  const bool image = options.input.ndim() == 3;
  check<ConfigError>((image || options.input.ndim() == 1) && options.input.count() > 0, "model",
                     "input: expected [channels, height, width] or [length], got ", options.input);
  check<ConfigError>(options.classes > 0, "model", "classes: expected a number > 0, got ", options.classes);
  check<ConfigError>(options.dropout >= 0 && options.dropout < 1, "model",
                     "dropout: expected 0 <= dropout < 1, got ", options.dropout);
  for (const int64_t size : options.hidden) {
    check<ConfigError>(size > 0, "model", "hidden: expected sizes > 0, got ", size);
  }
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Row& row : kModels) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Module> make_model(const std::string& name, const ModelOptions& options) {
  check_options(options);
  std::string known;
  for (const Row& row : kModels) {
    if (name == row.name) return row.make(options);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw ConfigError(to_text("[model] unknown name \"", name, "\"; known: ", known));
}

}  // namespace lockstep::models

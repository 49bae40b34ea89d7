#include "models/table.h"

#include "models/alexnet.h"
#include "models/cnn.h"
#include "models/gpt2.h"
#include "models/linear.h"
#include "models/mlp.h"
#include "models/resnet.h"
#include "models/vit.h"
#include "runtime/error.h"
#include "runtime/named_rows.h"

namespace lockstep::models {
namespace {

constexpr ModelRow kModels[] = {
    {"linear", make_linear},       {"mlp", make_mlp},           {"cnn", make_cnn},
    {"alexnet", make_alexnet},     {"resnet18", make_resnet18}, {"resnet20", make_resnet20},
    {"resnet34", make_resnet34},   {"resnet50", make_resnet50}, {"resnet56", make_resnet56},
    {"resnet101", make_resnet101}, {"gpt2", make_gpt2},         {"vit_small", make_vit_small},
};

void check_options(const ModelOptions& options) {
  const bool image = options.input.ndim() == 3;
  check<ConfigError>((image || options.input.ndim() == 1) && options.input.count() > 0, "model",
                     "input: expected [channels, height, width] or [length], got ", options.input);
  check<ConfigError>(options.classes > 0, "model", "classes: expected a number > 0, got ", options.classes);
  const double dropout = options.dropout.value_or(0);
  check<ConfigError>(dropout >= 0 && dropout < 1, "model", "dropout: expected 0 <= dropout < 1, got ",
                     dropout);
  for (const int64_t size : options.hidden) {
    check<ConfigError>(size > 0, "model", "hidden: expected sizes > 0, got ", size);
  }
}

}  // namespace

std::vector<std::string> model_names(const std::vector<ModelRow>& own) {
  return names_of(with_own(kModels, own));
}

std::unique_ptr<Module> make_model(const std::string& name, const ModelOptions& options,
                                   const std::vector<ModelRow>& own) {
  check_options(options);
  return find_row("model", with_own(kModels, own), name).make(options);
}

}  // namespace lockstep::models

#include "models/model_options.h"

#include <algorithm>

#include "runtime/error.h"

namespace lockstep::models {

void check_unread(const char* model, const ModelOptions& options,
                  std::initializer_list<std::string_view> read) {
  const std::pair<std::string_view, bool> given[] = {
      {"hidden", !options.hidden.empty()}, {"dropout", options.dropout.value_or(0) != 0},
      {"zero_gamma", options.zero_gamma},  {"layers", options.layers != 0},
      {"heads", options.heads != 0},       {"width", options.width != 0},
      {"patch", options.patch != 0},
  };
  for (const auto& [name, is_set] : given) {
    check<ConfigError>(!is_set || std::ranges::find(read, name) != read.end(), model, name,
                       " is set, which this model does not read");
  }
}

}  // namespace lockstep::models

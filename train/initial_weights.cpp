#include "train/initial_weights.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "runtime/error.h"
#include "train/nearest_name.h"
#include "train/run_directory.h"
#include "train/safetensors.h"
#include "train/tensor_match.h"

namespace lockstep::train {
namespace {

constexpr size_t kMostListed = 20;

using Patterns = google::protobuf::RepeatedPtrField<std::string>;

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool matches_any(const Patterns& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, name); });
}

template <class Names>
void check_patterns(const char* field, const Patterns& patterns, const Names& names) {
  for (const std::string& pattern : patterns) {
    const bool used = std::any_of(names.begin(), names.end(),
                                  [&](const std::string& name) { return matches(pattern, name); });
    check<ConfigError>(used, "config", field, ": \"", pattern, "\" matches none of: ", joined(names));
  }
}

/// Those that no pattern matches.
std::vector<NamedTensor> without(const Patterns& patterns, std::vector<NamedTensor> tensors) {
  std::erase_if(tensors, [&](const NamedTensor& tensor) { return matches_any(patterns, tensor.name); });
  return tensors;
}

}  // namespace

std::string weights_file(const std::string& path) {
  return std::filesystem::is_directory(path) ? RunDirectory{path}.model() : path;
}

std::string load_initial_weights(const TrainConfig::InitFrom& init_from,
                                 const std::vector<NamedTensor>& model) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : model) names.push_back(tensor.name);
  check_patterns("init_from.skip", init_from.skip(), names);
  const std::string file = weights_file(init_from.path());
  const std::vector<std::string> loaded =
      load_by_name(file, without(init_from.skip(), load_safetensors(file)), without(init_from.skip(), model),
                   init_from.lenient() ? Matching::kLenient : Matching::kStrict);
  std::erase_if(names, [&](const std::string& name) {
    return std::find(loaded.begin(), loaded.end(), name) != loaded.end();
  });
  return to_text("initial weights: ", loaded.size(), " of the model's ", model.size(), " tensors from ", file,
                 names.empty() ? "" : "; as drawn stay: " + joined(names, kMostListed));
}

std::vector<Parameter*> freeze(const std::vector<Parameter*>& parameters, const Patterns& patterns) {
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters) names.push_back(parameter->name);
  check_patterns("frozen", patterns, names);
  std::vector<Parameter*> trained;
  for (Parameter* parameter : parameters) {
    if (matches_any(patterns, parameter->name)) {
      parameter->value.set_requires_grad(false);
    } else {
      trained.push_back(parameter);
    }
  }
  check<ConfigError>(!trained.empty(), "config", "frozen matches all parameters: nothing is left to train");
  return trained;
}

}  // namespace lockstep::train

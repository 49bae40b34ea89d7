#include "optim/parameter_rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "runtime/error.h"

namespace lockstep::optim {
namespace {

void check_value(const std::string& pattern, const char* field, double value) {
  check<ConfigError>(std::isfinite(value) && value >= 0, "parameter rules", field, " of \"", pattern,
                     "\": expected a number >= 0, got ", value);
}

std::string names_of(const std::vector<OptimizedParameter>& parameters) {
  std::string names;
  for (const OptimizedParameter& parameter : parameters) {
    names += (names.empty() ? "" : ", ") + parameter.name;
  }
  return names;
}

void apply_rule(std::vector<OptimizedParameter>& parameters, const ParameterRule& rule) {
  if (rule.weight_decay) check_value(rule.pattern, "weight_decay", *rule.weight_decay);
  if (rule.lr_factor) check_value(rule.pattern, "lr_factor", *rule.lr_factor);
  bool matched = false;
  for (OptimizedParameter& parameter : parameters) {
    if (fnmatch(rule.pattern.c_str(), parameter.name.c_str(), 0) != 0) continue;
    matched = true;
    parameter.weight_decay = rule.weight_decay.value_or(parameter.weight_decay);
    parameter.lr_factor = rule.lr_factor.value_or(parameter.lr_factor);
    parameter.trust = rule.trust.value_or(parameter.trust);
  }
  check<ConfigError>(matched, "parameter rules", "pattern \"", rule.pattern,
                     "\" matches no parameter; there are: ", names_of(parameters));
}

}  // namespace

void apply_rules(std::vector<OptimizedParameter>& parameters, double weight_decay,
                 const std::vector<ParameterRule>& rules) {
  check_value("*", "weight_decay", weight_decay);
  for (OptimizedParameter& parameter : parameters) {
    parameter.weight_decay = parameter.value.ndim() >= 2 ? weight_decay : 0;
    parameter.trust = parameter.value.ndim() >= 2;
    parameter.lr_factor = 1;
  }
  for (const ParameterRule& rule : rules) apply_rule(parameters, rule);
}

std::string parameter_table(const std::vector<OptimizedParameter>& parameters) {
  size_t name_width = std::string("parameter").size();
  size_t shape_width = std::string("shape").size();
  for (const OptimizedParameter& parameter : parameters) {
    name_width = std::max(name_width, parameter.name.size());
    shape_width = std::max(shape_width, to_text(parameter.value.shape()).size());
  }
  std::ostringstream table;
  table << std::left;
  const auto add_line = [&](const auto& name, const auto& shape, const auto& decay, const auto& factor,
                            const auto& trust) {
    table << std::setw(static_cast<int>(name_width)) << name << "  "
          << std::setw(static_cast<int>(shape_width)) << shape << "  " << std::setw(12) << decay << "  "
          << std::setw(9) << factor << "  " << trust << '\n';
  };
  add_line("parameter", "shape", "weight_decay", "lr_factor", "trust");
  for (const OptimizedParameter& parameter : parameters) {
    add_line(parameter.name, to_text(parameter.value.shape()), parameter.weight_decay, parameter.lr_factor,
             parameter.trust ? "yes" : "no");
  }
  return table.str();
}

}  // namespace lockstep::optim

// Which parameters take weight decay and a trust ratio, and at which learning rate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace lockstep::optim {

/// Overrides the settings of the parameters whose full name matches.
struct ParameterRule {
  std::string pattern;  ///< shell wildcards (* ? [...]); * also matches dots: "layer1.*", "*.bias"
  std::optional<double> weight_decay = {};
  std::optional<double> lr_factor = {};
  std::optional<bool> trust = {};
};

/// Sets weight_decay, lr_factor and trust of every parameter. By default parameters of two or more dimensions
/// (the weights of linear layers and convolutions) take `weight_decay` and a trust ratio; those of fewer
/// (biases, scales and shifts of normalisations) take neither; lr_factor is 1. Then rules apply in order, the
/// last one that matches a setting wins. Throws ConfigError naming a rule whose pattern matches no parameter,
/// or a negative or non-finite value.
void apply_rules(std::vector<OptimizedParameter>& parameters, double weight_decay,
                 const std::vector<ParameterRule>& rules = {});

/// The settings as a table for people, one line per parameter under a line of headings.
std::string parameter_table(const std::vector<OptimizedParameter>& parameters);

}  // namespace lockstep::optim

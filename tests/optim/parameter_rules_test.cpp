#include "optim/parameter_rules.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

std::vector<OptimizedParameter> model() {
  std::vector<OptimizedParameter> parameters;
  for (const auto& [name, shape] : {std::pair("conv1.weight", Shape{4, 1, 3, 3}),
                                    {"conv1.bias", Shape{4}},
                                    {"bn1.weight", Shape{4}},
                                    {"fc.weight", Shape{10, 4}}}) {
    parameters.push_back({.name = name, .value = Tensor::zeros(shape), .gradient = Tensor::zeros(shape)});
  }
  return parameters;
}

TEST(ParameterRules, OnlyWeightsTakeDecayAndTrustByDefault) {
  auto parameters = model();
  apply_rules(parameters, 0.25);
  const std::vector<double> expected{0.25, 0, 0, 0.25};
  for (size_t p = 0; p < parameters.size(); ++p) {
    EXPECT_EQ(parameters[p].weight_decay, expected[p]) << parameters[p].name;
    EXPECT_EQ(parameters[p].trust, expected[p] > 0) << parameters[p].name;
    EXPECT_EQ(parameters[p].lr_factor, 1) << parameters[p].name;
  }
}

TEST(ParameterRules, LaterRulesWinSettingBySetting) {
  auto parameters = model();
  apply_rules(parameters, 0.25,
              {{.pattern = "conv1.*", .weight_decay = 0.5, .lr_factor = 2},
               {.pattern = "*.bias", .weight_decay = 0.125, .lr_factor = {}},
               {.pattern = "bn?.weight", .weight_decay = {}, .lr_factor = 0, .trust = true},
               {.pattern = "fc.*", .trust = false}});
  const std::vector<double> decays{0.5, 0.125, 0, 0.25};
  const std::vector<double> factors{2, 2, 0, 1};
  const std::vector<bool> trusts{true, false, true, false};
  for (size_t p = 0; p < parameters.size(); ++p) {
    EXPECT_EQ(parameters[p].weight_decay, decays[p]) << parameters[p].name;
    EXPECT_EQ(parameters[p].lr_factor, factors[p]) << parameters[p].name;
    EXPECT_EQ(parameters[p].trust, trusts[p]) << parameters[p].name;
  }
}

TEST(ParameterRules, ARuleWithoutMatchOrWithABadValueIsNamed) {
  auto parameters = model();
  test::expect_error<ConfigError>(
      [&] {
        apply_rules(parameters, 0, {{"conv9.*", 0.1, {}}});
      },
      "\"conv9.*\" matches no parameter; there are: conv1.weight, conv1.bias");
  test::expect_error<ConfigError>(
      [&] {
        apply_rules(parameters, 0, {{"fc.*", -1.0, {}}});
      },
      "weight_decay of \"fc.*\": expected a number >= 0, got -1");
  test::expect_error<ConfigError>([&] { apply_rules(parameters, -0.5); },
                                  "weight_decay of \"*\": expected a number >= 0, got -0.5");
}

TEST(ParameterRules, TheTableListsEveryParameter) {
  auto parameters = model();
  apply_rules(parameters, 0.0005, {{.pattern = "fc.*", .weight_decay = {}, .lr_factor = 10}});
  EXPECT_EQ(parameter_table(parameters),
            "parameter     shape         weight_decay  lr_factor  trust\n"
            "conv1.weight  [4, 1, 3, 3]  0.0005        1          yes\n"
            "conv1.bias    [4]           0             1          no\n"
            "bn1.weight    [4]           0             1          no\n"
            "fc.weight     [10, 4]       0.0005        10         yes\n");
}

}  // namespace
}  // namespace lockstep::optim

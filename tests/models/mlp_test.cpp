#include "models/mlp.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

TEST(Mlp, HasTwoHiddenLayersOf1024ByDefault) {
  const auto model = make_mlp({.input = {1, 28, 28}, .classes = 10});
  std::vector<std::string> names;
  int64_t count = 0;
  for (const Parameter* parameter : parameters(*model)) {
    names.push_back(parameter->name);
    count += parameter->value.count();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "fc3.weight",
                                             "fc3.bias"}));
  EXPECT_EQ(count, (784 + 1) * 1024 + (1024 + 1) * 1024 + (1024 + 1) * 10);
}

TEST(Mlp, RectifiesBetweenItsLayers) {
  const auto model = make_mlp({.input = {1, 1, 1}, .classes = 1, .hidden = {2}});
  const auto found = parameters(*model);
  found[0]->value.copy_from(Tensor::from<float>({1, -1}, {2, 1}));
  found[2]->value.copy_from(Tensor::from<float>({3, 5}, {1, 2}));
  const Tensor y = model->forward(Tensor::from<float>({2, -2}, {2, 1, 1, 1}), {});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{6, 10}));
}

TEST(Mlp, DropsOutAfterEachHiddenLayer) {
  const ModelOptions options{.input = {1, 2, 2}, .classes = 2, .hidden = {8, 8, 8}};
  ModelOptions with_dropout = options;
  with_dropout.dropout = 0.5;
  EXPECT_EQ(modules(*make_mlp(with_dropout)).size(), modules(*make_mlp(options)).size() + 3);
}

TEST(Mlp, RefusesBatchNorm) {
  test::expect_error<ConfigError>(
      [] {
        make_mlp({.input = {1, 2, 2}, .classes = 2, .batch_norm = true});
      },
      "has no batch norm");
}

}  // namespace
}  // namespace lockstep::models

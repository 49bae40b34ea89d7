#include "models/linear.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

TEST(LinearModel, IsOneLayerOnFlatImages) {
  const auto model = make_linear({.input = {2, 1, 2}, .classes = 2});
  const auto found = parameters(*model);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->name, "fc.weight");
  EXPECT_EQ(found[1]->name, "fc.bias");
  found[0]->value.copy_from(Tensor::from<float>({1, 2, 3, 4, -1, 0, 0, 1}, {2, 4}));
  const Tensor logits = model->forward(Tensor::from<float>({1, 10, 100, 1000}, {1, 2, 1, 2}), {});
  EXPECT_EQ(logits.to_vector<float>(), (std::vector<float>{4321, 999}));
}

TEST(LinearModel, RefusesWhatItHasNot) {
  const Shape input{1, 2, 2};
  const auto make = [](const ModelOptions& options) { return [=] { make_linear(options); }; };
  test::expect_error<ConfigError>(make({.input = input, .classes = 2, .hidden = {3}}),
                                  "[linear] hidden is set");
  test::expect_error<ConfigError>(make({.input = input, .classes = 2, .dropout = 0.5}), "dropout is set");
  test::expect_error<ConfigError>(make({.input = input, .classes = 2, .batch_norm = true}),
                                  "has no batch norm");
}

}  // namespace
}  // namespace lockstep::models

#include "models/alexnet.h"

#include <gtest/gtest.h>

#include <optional>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

std::vector<std::string> parameter_names(Module& model) {
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters(model)) names.push_back(parameter->name);
  return names;
}

int64_t parameter_count(Module& model) {
  int64_t count = 0;
  for (const Parameter* parameter : parameters(model)) count += parameter->value.count();
  return count;
}

TEST(AlexNet, HasTorchvisionsParameters) {
  const auto model = make_alexnet({.input = {3, 224, 224}, .classes = 1000});
  EXPECT_EQ(parameter_count(*model), 61100840);
  EXPECT_EQ(parameter_names(*model),
            (std::vector<std::string>{
                "features.0.weight", "features.0.bias", "features.3.weight", "features.3.bias",
                "features.6.weight", "features.6.bias", "features.8.weight", "features.8.bias",
                "features.10.weight", "features.10.bias", "classifier.1.weight", "classifier.1.bias",
                "classifier.4.weight", "classifier.4.bias", "classifier.6.weight", "classifier.6.bias"}));
}

TEST(AlexNet, BatchNormFollowsEveryConvolutionInPlaceOfItsBias) {
  const auto model = make_alexnet({.input = {3, 224, 224}, .classes = 1000, .batch_norm = true});
  EXPECT_EQ(parameter_count(*model), 61101992);
  std::vector<std::string> names = parameter_names(*model);
  names.resize(15);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "features.0.weight", "features.1.weight", "features.1.bias", "features.4.weight",
                       "features.5.weight", "features.5.bias", "features.8.weight", "features.9.weight",
                       "features.9.bias", "features.11.weight", "features.12.weight", "features.12.bias",
                       "features.14.weight", "features.15.weight", "features.15.bias"}));
}

TEST(AlexNet, DropsHalfUnlessToldOtherwise) {
  const auto logit = [](std::optional<double> dropout, bool training) {
    const auto model = make_alexnet({.input = {1, 63, 63}, .classes = 1, .dropout = dropout});
    for (Parameter* parameter : parameters(*model)) {
      if (parameter->name == "classifier.1.bias") parameter->value.fill(1);
      if (parameter->name == "classifier.4.weight") parameter->value.narrow(0, 0, 1).fill(1);
      if (parameter->name == "classifier.6.weight") parameter->value.fill(1);
    }
    const NoGrad no_grad;
    return model->forward(Tensor::zeros({1, 1, 63, 63}), {.training = training, .random = {.seed = 1}})
        .item();
  };
  EXPECT_EQ(logit({}, false), 4096);
  EXPECT_EQ(logit(0, true), 4096) << "0 is none, not the default";
  const double by_default = logit({}, true);
  EXPECT_NEAR(by_default, 4096, 5 * 64) << "five standard deviations";
  EXPECT_EQ(by_default, logit(0.5, true));
  EXPECT_NE(by_default, logit(0.25, true));
}

TEST(AlexNet, TakesImagesFrom63PixelsOn) {
  const auto model = make_alexnet({.input = {1, 63, 80}, .classes = 3, .batch_norm = true});
  for (const bool training : {false, true}) {
    EXPECT_EQ(model->forward(Tensor::zeros({2, 1, 63, 80}), {.training = training}).shape(), (Shape{2, 3}));
  }
  test::expect_error<ConfigError>(
      [] {
        make_alexnet({.input = {3, 62, 224}, .classes = 3});
      },
      "expected images of at least 63 x 63, got [3, 62, 224]");
  test::expect_error<ConfigError>([] { make_alexnet({.input = {100}, .classes = 3}); }, "got [100]");
  test::expect_error<ConfigError>(
      [] {
        make_alexnet({.input = {3, 64, 64}, .classes = 3, .zero_gamma = true});
      },
      "[alexnet] zero_gamma is set, which this model does not read");
}

}  // namespace
}  // namespace lockstep::models

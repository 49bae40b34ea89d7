#include "models/table.h"

#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

const ModelOptions kOptions{.input = {3, 8, 8}, .classes = 7};

/// The least that this model takes.
ModelOptions options_of(const std::string& name) {
  ModelOptions options = kOptions;
  if (name == "alexnet") options.input = {3, 63, 63};
  if (name == "gpt2") options = {.input = {6}, .classes = 7, .layers = 1, .heads = 2, .width = 8};
  if (name == "vit_small") options = {.input = {3, 8, 8}, .classes = 7, .layers = 1, .width = 12, .patch = 4};
  options.batch_norm = name.starts_with("resnet");
  return options;
}

std::unique_ptr<Module> make(const std::string& name) {
  return make_model(name, options_of(name));
}

/// The models that are drawn in no time; the others are made of the same layers.
std::vector<std::string> small_models() {
  std::vector<std::string> names;
  for (const std::string& name : model_names()) {
    const auto model = make(name);
    int64_t count = 0;
    for (const Parameter* parameter : parameters(*model)) count += parameter->value.count();
    if (count < 2'000'000) names.push_back(name);
  }
  return names;
}

/// Images, or tokens.
Tensor inputs(const std::string& name, int64_t count) {
  Shape shape{count};
  for (const int64_t extent : options_of(name).input) shape.push_back(extent);
  const bool tokens = shape.ndim() == 2;
  const RandomStream stream(1, Purpose::kTest, 0, 0);
  Tensor x = Tensor::empty(shape, tokens ? DType::kI64 : DType::kF32);
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto at = static_cast<uint64_t>(i);
    if (tokens) {
      x.data<int64_t>()[i] = stream.below(at, 7);
    } else {
      x.data<float>()[i] = stream.uniform(at);
    }
  }
  return x;
}

TEST(ModelTable, EveryModelGivesOneLogitPerClass) {
  EXPECT_EQ(model_names(),
            (std::vector<std::string>{"linear", "mlp", "cnn", "alexnet", "resnet18", "resnet20", "resnet34",
                                      "resnet50", "resnet56", "resnet101", "gpt2", "vit_small"}));
  for (const std::string& name : model_names()) {
    const auto model = make(name);
    const NoGrad no_grad;
    for (const bool training : {false, true}) {
      EXPECT_EQ(model->forward(inputs(name, 5), {.training = training}).shape(),
                (name == "gpt2" ? Shape{5, 6, 7} : Shape{5, 7}))
          << name;
    }
  }
}

TEST(ModelTable, EqualSeedsGiveEqualModels) {
  EXPECT_GE(small_models().size(), 7U);
  for (const std::string& name : small_models()) {
    const auto weights = [&](uint64_t seed) {
      const auto model = make(name);
      initialize(*model, seed);
      std::vector<std::vector<float>> values;
      for (const Parameter* parameter : parameters(*model))
        values.push_back(parameter->value.to_vector<float>());
      return values;
    };
    EXPECT_EQ(weights(1), weights(1)) << name;
    EXPECT_NE(weights(1), weights(2)) << name;
  }
}

// Weights files are read by name into another model's tensors.
TEST(ModelTable, ACopyByNameIsTheSameModel) {
  for (const std::string& name : small_models()) {
    const auto source = make(name);
    const auto target = make(name);
    initialize(*source, 1);
    copy_by_name("weights", state_tensors(*source), state_tensors(*target));
    EXPECT_EQ(source->forward(inputs(name, 2), {}).to_vector<float>(),
              target->forward(inputs(name, 2), {}).to_vector<float>());
  }
  const auto linear = make_model("linear", kOptions);
  const auto mlp = make_model("mlp", kOptions);
  test::expect_error<InvalidArgument>(
      [&] { copy_by_name("weights", state_tensors(*linear), state_tensors(*mlp)); },
      "[weights] fc1.weight is missing");
}

TEST(ModelTable, UnknownNamesAndOptionsOutOfRangeAreNamed) {
  const auto make = [](const std::string& name, const ModelOptions& options) {
    return [=] { make_model(name, options); };
  };
  test::expect_error<ConfigError>(make("resnet", kOptions),
                                  "unknown name \"resnet\"; known: linear, mlp, cnn, ");
  test::expect_error<ConfigError>(make("mlp", {.input = {8, 8}, .classes = 7}),
                                  "input: expected [channels, height, width] or [length], got [8, 8]");
  test::expect_error<ConfigError>(make("mlp", {.input = {1, 8, 8}, .classes = 0}),
                                  "classes: expected a number > 0");
  test::expect_error<ConfigError>(make("mlp", {.input = {1, 8, 8}, .classes = 2, .dropout = 1}),
                                  "dropout: expected 0 <= dropout < 1, got 1");
  test::expect_error<ConfigError>(make("mlp", {.input = {1, 8, 8}, .classes = 2, .hidden = {5, 0}}),
                                  "hidden: expected sizes > 0, got 0");
}

}  // namespace
}  // namespace lockstep::models

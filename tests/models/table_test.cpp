#include "models/table.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

const ModelOptions kOptions{.input = {3, 8, 8}, .classes = 7};

Tensor images(int64_t count) {
  const RandomStream stream(1, Purpose::kTest, 0, 0);
  Tensor x = Tensor::empty({count, 3, 8, 8});
  for (int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = stream.uniform(static_cast<uint64_t>(i));
  return x;
}

TEST(ModelTable, EveryModelGivesOneLogitPerClass) {
  EXPECT_EQ(model_names(), (std::vector<std::string>{"linear", "mlp", "cnn"}));
  for (const std::string& name : model_names()) {
    const auto model = make_model(name, kOptions);
    initialize(*model, 1);
    for (const bool training : {false, true}) {
      EXPECT_EQ(model->forward(images(5), {.training = training}).shape(), (Shape{5, 7})) << name;
    }
  }
}

TEST(ModelTable, EqualSeedsGiveEqualModels) {
  for (const std::string& name : model_names()) {
    const auto logits = [&](uint64_t seed) {
      const auto model = make_model(name, kOptions);
      initialize(*model, seed);
      return model->forward(images(2), {}).to_vector<float>();
    };
    EXPECT_EQ(logits(1), logits(1)) << name;
    EXPECT_NE(logits(1), logits(2)) << name;
  }
}

// Weights files are read by name into another model's tensors.
TEST(ModelTable, ACopyByNameIsTheSameModel) {
  for (const std::string& name : model_names()) {
    const auto source = make_model(name, kOptions);
    const auto target = make_model(name, kOptions);
    initialize(*source, 1);
    copy_by_name("weights", state_tensors(*source), state_tensors(*target));
    EXPECT_EQ(source->forward(images(2), {}).to_vector<float>(),
              target->forward(images(2), {}).to_vector<float>());
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
                                  "unknown name \"resnet\"; known: linear, mlp, cnn");
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

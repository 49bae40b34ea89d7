#include "models/vit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/cross_entropy/cross_entropy.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/models/golden_values.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

const ModelOptions kSmall{
    .input = {3, 16, 16}, .classes = 7, .batch_norm = true, .layers = 2, .heads = 2, .width = 16, .patch = 8};

TEST(VitSmall, ComputesWhatTorchvisionDoes) {
  constexpr double kTolerance = 1e-5;
  const test::Golden golden = test::load_golden("vit.safetensors");
  const auto model = make_vit_small(kSmall);
  copy_by_name("golden", test::with_prefix(golden, "before."), state_tensors(*model));
  const Tensor logits = model->forward(golden.at("images"), {.training = true});
  test::expect_near_golden(logits.detach(), golden.at("logits"), kTolerance, "logits");
  backward(ops::cross_entropy(logits, golden.at("labels")).sum);
  test::expect_golden_gradients(*model, golden, kTolerance);
}

TEST(VitSmall, HasTheDocumentedParameters) {
  const auto model = make_vit_small({.input = {3, 224, 224}, .classes = 1000});
  int64_t count = 0;
  for (const Parameter* parameter : parameters(*model)) count += parameter->value.count();
  EXPECT_EQ(count, 22050664);
  EXPECT_EQ(parameters(*model)[0]->name, "class_token");
  EXPECT_EQ(parameters(*model).back()->name, "heads.head.bias");
}

TEST(VitSmall, StartsAsTorchvisionDoes) {
  const auto model = make_vit_small(kSmall);
  const std::map<std::string, Initializer> expected{
      {"class_token", Initializer::constant(0)},
      {"conv_proj.weight", Initializer::normal(1 / std::sqrt(3 * 8 * 8))},
      {"conv_proj.bias", Initializer::constant(0)},
      {"encoder.pos_embedding", Initializer::normal(0.02)},
      {"encoder.layers.encoder_layer_1.ln_1.weight", Initializer::constant(1)},
      {"encoder.layers.encoder_layer_1.self_attention.in_proj_weight",
       Initializer::uniform(std::sqrt(6.0 / (16 + 48)))},
      {"encoder.layers.encoder_layer_1.self_attention.in_proj_bias", Initializer::constant(0)},
      {"encoder.layers.encoder_layer_1.self_attention.out_proj.weight", Initializer::uniform(0.25)},
      {"encoder.layers.encoder_layer_1.self_attention.out_proj.bias", Initializer::constant(0)},
      {"encoder.layers.encoder_layer_1.mlp.0.weight", Initializer::uniform(std::sqrt(6.0 / (16 + 64)))},
      {"encoder.layers.encoder_layer_1.mlp.3.bias", Initializer::normal(1e-6)},
      {"heads.head.weight", Initializer::constant(0)},
      {"heads.head.bias", Initializer::constant(0)},
  };
  size_t found = 0;
  for (const Parameter* parameter : parameters(*model)) {
    const auto entry = expected.find(parameter->name);
    if (entry == expected.end()) continue;
    ++found;
    EXPECT_EQ(parameter->initializer.kind, entry->second.kind) << parameter->name;
    EXPECT_DOUBLE_EQ(parameter->initializer.center, entry->second.center) << parameter->name;
    EXPECT_DOUBLE_EQ(parameter->initializer.spread, entry->second.spread) << parameter->name;
  }
  EXPECT_EQ(found, expected.size());
}

TEST(VitSmall, TakesImagesOfAnyShapeThatPatchesDivide) {
  ModelOptions options = kSmall;
  options.input = {1, 8, 24};
  const auto model = make_vit_small(options);
  initialize(*model, 1);
  EXPECT_EQ(model->forward(Tensor::zeros({2, 1, 8, 24}), {}).shape(), (Shape{2, 7}));
}

TEST(VitSmall, DropoutChangesTrainingOnly) {
  ModelOptions options = kSmall;
  options.dropout = 0.2;
  const auto model = make_vit_small(options);
  initialize(*model, 1);
  for (Parameter* parameter : parameters(*model)) {
    if (parameter->name == "heads.head.weight") parameter->value.fill(0.1);
  }
  const Tensor images = Tensor::full({1, 3, 16, 16}, 0.5);
  const auto logits = [&](bool training, uint64_t seed) {
    return model->forward(images, {.training = training, .random = {.seed = seed}}).to_vector<float>();
  };
  EXPECT_EQ(logits(false, 1), logits(false, 2));
  EXPECT_EQ(logits(true, 1), logits(true, 1));
  EXPECT_NE(logits(true, 1), logits(true, 2));
  EXPECT_NE(logits(true, 1), logits(false, 1));
}

TEST(VitSmall, RefusesWrongSizes) {
  const auto make = [](const ModelOptions& options) { return [=] { make_vit_small(options); }; };
  test::expect_error<ConfigError>(make({.input = {64}, .classes = 5}),
                                  "[vit_small] input: expected [channels, height, width], got [64]");
  test::expect_error<ConfigError>(
      make({.input = {1, 32, 28}, .classes = 5}),
      "[vit_small] patch: expected a divisor of the image's height 32 and width 28, got 16");
  test::expect_error<ConfigError>(make({.input = {1, 32, 32}, .classes = 5, .heads = 7}),
                                  "[vit_small] heads: expected a divisor of the width 384, got 7");
  test::expect_error<ConfigError>(make({.input = {1, 32, 32}, .classes = 5, .hidden = {4}}),
                                  "[vit_small] hidden is set, which this model does not read");
}

}  // namespace
}  // namespace lockstep::models

#include "models/transformer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/layers.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

void set(Module& module, size_t parameter, const std::vector<float>& values) {
  Tensor& value = parameters(module)[parameter]->value;
  value.copy_from(Tensor::from(values, value.shape()));
}

std::vector<std::string> names(Module& module) {
  std::vector<std::string> found;
  for (const NamedTensor& tensor : state_tensors(module)) found.push_back(tensor.name);
  return found;
}

TEST(LayerNorm, ScalesAndShiftsWhatItNormalised) {
  LayerNorm layer(2, 0);
  initialize(layer, 1);
  const Tensor x = Tensor::from<float>({1, 3, 10, 4}, {1, 2, 2});
  EXPECT_EQ(layer.forward(x, {}).to_vector<float>(), (std::vector<float>{-1, 1, 1, -1}));
  set(layer, 0, {2, 3});
  set(layer, 1, {10, 20});
  EXPECT_EQ(layer.forward(x, {}).to_vector<float>(), (std::vector<float>{8, 23, 12, 17}));
  EXPECT_EQ(names(layer), (std::vector<std::string>{"weight", "bias"}));
}

TEST(Embedding, GivesRowsOfItsTable) {
  Embedding layer(3, 2, Initializer::normal(0.5));
  EXPECT_EQ(layer.weight().initializer.spread, 0.5);
  set(layer, 0, {0, 1, 10, 11, 20, 21});
  const Tensor y = layer.forward(Tensor::from<int64_t>({2, 0}, {1, 2}), {});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{20, 21, 0, 1}));
}

TEST(Projection, TakesEitherOrderOfItsWeight) {
  for (const bool input_major : {false, true}) {
    Projection layer(2, 3, {.weight = Initializer::normal(1), .input_major = input_major});
    EXPECT_EQ(parameters(layer)[0]->value.shape(), (input_major ? Shape{2, 3} : Shape{3, 2}));
    EXPECT_EQ(parameters(layer)[1]->initializer.kind, Initializer::Kind::kConstant);
    set(layer, 0, input_major ? std::vector<float>{1, 3, 5, 2, 4, 6} : std::vector<float>{1, 2, 3, 4, 5, 6});
    set(layer, 1, {10, 20, 30});
    const Tensor x = Tensor::from<float>({1, -1}, {1, 1, 2});
    EXPECT_EQ(layer.forward(x, {}).to_vector<float>(), (std::vector<float>{9, 19, 29}));
  }
}

TEST(Gelu, HasTwoForms) {
  const Tensor x = Tensor::scalar(-1);
  EXPECT_NEAR(Gelu(Gelu::Form::kExact).forward(x, {}).item(), -0.158655, 1e-6);
  EXPECT_NEAR(Gelu(Gelu::Form::kTanh).forward(x, {}).item(), -0.158808, 1e-6);
}

/// x -> factor x.
class Factor final : public Module {
 public:
  explicit Factor(double factor) : factor_(add_parameter("factor", {}, Initializer::constant(factor))) {}
  Tensor forward(const Tensor& input, const ForwardContext&) override {
    Tensor result = input.clone();
    for (int64_t i = 0; i < result.count(); ++i) result.data<float>()[i] *= factor_.value.data<float>()[0];
    return result;
  }

 private:
  Parameter& factor_;
};

TEST(TransformerBlock, AddsBothBranchesToTheirInputs) {
  TransformerBlock block({.width = 2, .epsilon = 0, .dropout = 0, .attention_name = "attn"},
                         std::make_unique<Factor>(10), std::make_unique<Factor>(-1));
  initialize(block, 1);
  // Normalised (-1, 1): (1, 3) + 10 (-1, 1) = (-9, 13), minus (-1, 1).
  const Tensor x = Tensor::from<float>({1, 3}, {1, 1, 2});
  EXPECT_EQ(block.forward(x, {.training = true}).to_vector<float>(), (std::vector<float>{-8, 12}));
  EXPECT_EQ(names(block), (std::vector<std::string>{"ln_1.weight", "ln_1.bias", "attn.factor", "ln_2.weight",
                                                    "ln_2.bias", "mlp.factor"}));
}

TEST(TransformerBlock, DropoutActsOnTheBranchesAlone) {
  const int64_t width = 64;
  TransformerBlock block({.width = width, .epsilon = 0, .dropout = 0.5, .attention_name = "attn"},
                         std::make_unique<Factor>(1), std::make_unique<Factor>(0));
  initialize(block, 1);
  Tensor x = Tensor::empty({1, width});
  for (int64_t i = 0; i < width; ++i) x.data<float>()[i] = i % 2 == 0 ? 3.0F : 5.0F;  // normalised -1 and 1
  int64_t dropped = 0;
  const auto values = block.forward(x, {.training = true}).to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const float kept = i % 2 == 0 ? 1.0F : 7.0F;
    const float input = i % 2 == 0 ? 3.0F : 5.0F;
    EXPECT_TRUE(values[i] == kept || values[i] == input) << values[i];
    dropped += values[i] == input;
  }
  EXPECT_GT(dropped, width / 4);
  EXPECT_LT(dropped, width * 3 / 4);
}

TEST(CheckHeads, NamesBothNumbers) {
  check_heads("model", 3, 12);
  test::expect_error<ConfigError>([] { check_heads("model", 5, 12); },
                                  "[model] heads: expected a divisor of the width 12, got 5");
  test::expect_error<ConfigError>([] { check_heads("model", -1, 12); }, "got -1");
}

}  // namespace
}  // namespace lockstep::models

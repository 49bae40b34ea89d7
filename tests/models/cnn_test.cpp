#include "models/cnn.h"

#include <gtest/gtest.h>

#include "ops/cross_entropy/cross_entropy.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/models/golden_values.h"
#include "tests/models/sgd_training.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

/// Allowed |got - expected| / max(1, |expected|) against PyTorch: sums of hundreds of f32 products in another
/// order.
constexpr double kTolerance = 1e-5;

void expect_near(const Tensor& got, const Tensor& expected, const std::string& what) {
  test::expect_near_golden(got, expected, kTolerance, what);
}

/// The script's training: five steps of SGD from the stored weights; every stage must agree.
void follow_pytorch(const std::string& file, bool batch_norm) {
  const test::Golden golden = test::load_golden(file);
  const auto model =
      make_cnn({.input = {1, 12, 12}, .classes = 10, .hidden = {4, 6, 16}, .batch_norm = batch_norm});
  copy_by_name("golden", test::with_prefix(golden, "before."), state_tensors(*model));
  const auto sgd = test::bind_optimizer(*model);
  const Tensor& images = golden.at("images");
  for (int64_t step = 0; step < images.dim(0); ++step) {
    test::clear_gradients(*model);
    const Tensor logits = model->forward(test::row(images, step), {.training = true});
    const auto loss = ops::cross_entropy(logits, test::row(golden.at("labels"), step));
    backward(loss.sum);
    expect_near(loss.sum.detach(), test::row(golden.at("losses"), step),
                "loss of step " + std::to_string(step));
    if (step == 0) {
      expect_near(logits.detach(), golden.at("logits"), "logits");
      test::expect_golden_gradients(*model, golden, kTolerance);
    }
    sgd->step({.lr = 0.05, .gradient_divisor = loss.weight});
  }
  const auto expected = test::with_prefix(golden, "after.");
  ASSERT_EQ(expected.size(), state_tensors(*model).size());
  for (const NamedTensor& tensor : state_tensors(*model)) {
    expect_near(tensor.value, golden.at("after." + tensor.name), tensor.name);
  }
  const NoGrad no_grad;
  expect_near(model->forward(test::row(images, 0), {}), golden.at("evaluation_logits"), "evaluation");
}

TEST(Cnn, TrainsAsInPyTorch) {
  follow_pytorch("cnn.safetensors", false);
}

TEST(Cnn, TrainsAsInPyTorchWithBatchNorm) {
  follow_pytorch("cnn_bn.safetensors", true);
}

TEST(Cnn, HasTheDocumentedParameters) {
  const auto model = make_cnn({.input = {1, 28, 28}, .classes = 10});
  int64_t count = 0;
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters(*model)) {
    count += parameter->value.count();
    names.push_back(parameter->name);
  }
  EXPECT_EQ(count, 421642);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                             "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
}

TEST(Cnn, BatchNormReplacesTheBiasOfConvolutions) {
  const auto model = make_cnn({.input = {1, 28, 28}, .classes = 10, .batch_norm = true});
  std::vector<std::string> names;
  for (const NamedTensor& tensor : state_tensors(*model)) names.push_back(tensor.name);
  names.resize(12);
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean",
                                             "bn1.running_var", "bn1.num_batches_tracked", "conv2.weight",
                                             "bn2.weight", "bn2.bias", "bn2.running_mean", "bn2.running_var",
                                             "bn2.num_batches_tracked"}));
}

TEST(Cnn, DropoutChangesTrainingOnly) {
  ModelOptions options{.input = {1, 8, 8}, .classes = 3, .hidden = {2, 2, 16}};
  const auto plain = make_cnn(options);
  options.dropout = 0.5;
  const auto with_dropout = make_cnn(options);
  initialize(*plain, 1);
  initialize(*with_dropout, 1);
  const Tensor x = Tensor::full({2, 1, 8, 8}, 1);
  const auto logits = [&](Module& model, bool training) {
    return model.forward(x, {.training = training}).to_vector<float>();
  };
  EXPECT_EQ(logits(*plain, false), logits(*with_dropout, false));
  EXPECT_NE(logits(*plain, true), logits(*with_dropout, true));
}

TEST(Cnn, RefusesWrongSizes) {
  test::expect_error<ConfigError>(
      [] {
        make_cnn({.input = {1, 28, 28}, .classes = 10, .hidden = {32}});
      },
      "hidden: expected three sizes (conv1, conv2, fc1), got 1");
  test::expect_error<ConfigError>(
      [] {
        make_cnn({.input = {1, 3, 28}, .classes = 10});
      },
      "expected images of at least 4 x 4, got [1, 3, 28]");
}

}  // namespace
}  // namespace lockstep::models

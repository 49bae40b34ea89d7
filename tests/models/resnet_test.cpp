#include "models/resnet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/cpu/onednn.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/models/golden_values.h"
#include "tests/models/sgd_training.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

using test::Golden;
using test::values_of;

/// make_golden.py's uniform(): in [-1, 1), a hash of (i, stream).
double uniform(int64_t i, int64_t stream) {
  uint32_t h = static_cast<uint32_t>(i) * 0x9E3779B1U + static_cast<uint32_t>(stream) * 0x85EBCA6BU;
  h = (h ^ (h >> 16)) * 0x7FEB352DU;
  h = (h ^ (h >> 15)) * 0x846CA68BU;
  h ^= h >> 16;
  return static_cast<double>(h >> 8) / (1 << 23) - 1;
}

/// Its fill_by_formula().
void fill_by_formula(Module& model, double scale, double shift) {
  int64_t number = 0;
  for (Parameter* parameter : parameters(model)) {
    const Tensor& tensor = parameter->value;
    const bool is_scale = tensor.ndim() == 1 && parameter->name.ends_with("weight");
    const double bound = std::sqrt(3 / static_cast<double>(tensor.count() / tensor.dim(0)));
    for (int64_t i = 0; i < tensor.count(); ++i) {
      double value = uniform(i, number);
      if (tensor.ndim() > 1) {
        value *= bound;
      } else if (is_scale) {
        value = scale + scale / 4 * value;
      } else {
        value = scale / 4 * value + shift * (i % 2 == 0 ? 1 : -1);
      }
      tensor.data<float>()[i] = static_cast<float>(value);
    }
    parameter->value.bump_version();
    ++number;
  }
}

Tensor images_by_formula(const Shape& shape) {
  Tensor images = Tensor::empty(shape);
  for (int64_t i = 0; i < images.count(); ++i) {
    images.data<float>()[i] = static_cast<float>(uniform(i, 1000));
  }
  return images;
}

/// As in the script's main().
struct Training {
  int64_t size;  ///< of the images
  double scale;
  double shift;
  double tolerance;
};

/// The script's training: five steps of SGD; every stage must agree with double precision.
void follow_pytorch(Module& model, const Golden& golden, const Training& training) {
  constexpr int64_t kBatch = 4;
  constexpr double kForward = 1e-5;
  fill_by_formula(model, training.scale, training.shift);
  const auto sgd = test::bind_optimizer(model);
  const int64_t steps = golden.at("losses").count();
  const Tensor images = images_by_formula({steps, kBatch, 3, training.size, training.size});
  for (int64_t step = 0; step < steps; ++step) {
    test::clear_gradients(model);
    std::vector<int64_t> labels;
    for (int64_t i = step * kBatch; i < (step + 1) * kBatch; ++i) labels.push_back(i % 10);
    const Tensor logits = model.forward(test::row(images, step), {.training = true});
    const auto loss = ops::cross_entropy(logits, Tensor::from(labels, {kBatch}));
    backward(loss.sum);
    test::expect_near_golden(loss.sum.detach(), test::row(golden.at("losses"), step), training.tolerance,
                             "loss of step " + std::to_string(step));
    if (step == 0) {
      test::expect_near_golden(logits.detach(), golden.at("logits"), kForward, "logits");
      for (const Parameter* parameter : parameters(model)) {
        test::expect_near_sampled(parameter->value.grad(), golden.at("gradient." + parameter->name),
                                  training.tolerance, "gradient of " + parameter->name);
      }
    }
    sgd->step({.lr = 0.01, .gradient_divisor = loss.weight});
  }
  const auto is_after = [](const auto& entry) { return entry.first.starts_with("after."); };
  ASSERT_EQ(std::ranges::count_if(golden, is_after), std::ssize(state_tensors(model)));
  for (const NamedTensor& tensor : state_tensors(model)) {
    test::expect_near_sampled(tensor.value, golden.at("after." + tensor.name), training.tolerance,
                              tensor.name);
  }
  const NoGrad no_grad;
  test::expect_near_golden(model.forward(test::row(images, 0), {}), golden.at("evaluation_logits"),
                           training.tolerance, "evaluation");
}

TEST(Resnet, ResNet18TrainsAsInPyTorch) {
  const auto model = make_resnet18({.input = {3, 64, 64}, .classes = 10, .batch_norm = true});
  follow_pytorch(*model, test::load_golden("resnet18.safetensors"),
                 {.size = 64, .scale = 0.25, .shift = 1, .tolerance = 2e-4});
}

// A pre-activation that rounding moves across 0 changes a gradient by some 1e-4 of its size.
TEST(Resnet, ResNet20TrainsAsInPyTorch) {
  const auto model = make_resnet20({.input = {3, 16, 16}, .classes = 10, .batch_norm = true});
  follow_pytorch(*model, test::load_golden("resnet20.safetensors"),
                 {.size = 16, .scale = 1, .shift = 0, .tolerance = 2e-3});
}

TEST(Resnet, HaveTorchvisionsParameters) {
  struct Row {
    std::unique_ptr<Module> (*make)(const ModelOptions&);
    int64_t classes;
    int64_t parameters;
    size_t state_tensors;
  };
  for (const Row& row : {Row{make_resnet18, 1000, 11689512, 122}, Row{make_resnet34, 1000, 21797672, 218},
                         Row{make_resnet50, 1000, 25557032, 320}, Row{make_resnet101, 1000, 44549160, 626},
                         Row{make_resnet20, 10, 272474, 128}, Row{make_resnet56, 10, 855770, 344}}) {
    const auto model =
        row.make({.input = {3, 224, 224}, .classes = static_cast<int>(row.classes), .batch_norm = true});
    int64_t count = 0;
    for (const Parameter* parameter : parameters(*model)) count += parameter->value.count();
    EXPECT_EQ(count, row.parameters);
    EXPECT_EQ(state_tensors(*model).size(), row.state_tensors);
  }
}

std::vector<std::string> state_names(Module& model, const std::string& prefix) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : state_tensors(model)) {
    const bool statistic =
        tensor.name.find("running") != std::string::npos || tensor.name.find("tracked") != std::string::npos;
    if (!statistic && tensor.name.starts_with(prefix)) names.push_back(tensor.name.substr(prefix.size()));
  }
  return names;
}

TEST(Resnet, BlocksHaveTorchvisionsNamesAndOrder) {
  const auto basic = make_resnet18({.input = {3, 64, 64}, .classes = 10, .batch_norm = true});
  EXPECT_EQ(state_names(*basic, "layer1.0."),
            (std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight",
                                      "bn2.bias"}));
  EXPECT_EQ(state_names(*basic, "layer2.0.downsample."),
            (std::vector<std::string>{"0.weight", "1.weight", "1.bias"}));
  const auto bottleneck = make_resnet50({.input = {3, 64, 64}, .classes = 10, .batch_norm = true});
  EXPECT_EQ(state_names(*bottleneck, "layer1.0."),
            (std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight",
                                      "bn2.bias", "conv3.weight", "bn3.weight", "bn3.bias",
                                      "downsample.0.weight", "downsample.1.weight", "downsample.1.bias"}));
  EXPECT_EQ(state_names(*bottleneck, "conv1"), (std::vector<std::string>{".weight"}));
  EXPECT_EQ(state_names(*bottleneck, "fc"), (std::vector<std::string>{".weight", ".bias"}));
}

TEST(Resnet, ConvolutionsStartNormalByFanOut) {
  const auto model = make_resnet20({.input = {3, 32, 32}, .classes = 10, .batch_norm = true});
  initialize(*model, 1);
  for (const Parameter* parameter : parameters(*model)) {
    if (parameter->value.ndim() != 4) continue;
    double squares = 0;
    for (const double value : values_of(parameter->value)) squares += value * value;
    const Shape& shape = parameter->value.shape();
    const auto fan_out = static_cast<double>(shape[0] * shape[2] * shape[3]);
    const auto count = static_cast<double>(shape.count());
    // The mean square of n normal numbers has the relative deviation sqrt(2 / n).
    EXPECT_NEAR(squares / count * fan_out / 2, 1, 5 * std::sqrt(2 / count)) << parameter->name;
  }
}

TEST(Resnet, ZeroGammaMakesEveryBlockTheIdentityAtFirst) {
  const auto zero_scales = [](bool zero_gamma) {
    std::set<std::string> names;
    for (const auto make : {make_resnet20, make_resnet50}) {
      const auto model =
          make({.input = {3, 32, 32}, .classes = 10, .batch_norm = true, .zero_gamma = zero_gamma});
      initialize(*model, 1);
      for (const Parameter* parameter : parameters(*model)) {
        const auto values = values_of(parameter->value);
        const bool scale = parameter->value.ndim() == 1 && parameter->name.ends_with("weight");
        if (scale && std::ranges::count(values, 0) == std::ssize(values)) names.insert(parameter->name);
      }
    }
    return names;
  };
  EXPECT_TRUE(zero_scales(false).empty());
  std::set<std::string> expected;
  for (const auto& [stage, blocks] : {std::pair(1, 3), {2, 4}, {3, 6}, {4, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      expected.insert(to_text("layer", stage, '.', block, ".bn3.weight"));
      if (stage <= 3 && block < 3) expected.insert(to_text("layer", stage, '.', block, ".bn2.weight"));
    }
  }
  EXPECT_EQ(zero_scales(true), expected);
}

TEST(Resnet, RefuseWhatTheyDoNotRead) {
  ModelOptions options{.input = {3, 32, 32}, .classes = 10};
  test::expect_error<ConfigError>([&] { make_resnet20(options); }, "[resnet20] batch_norm: expected true");
  options.batch_norm = true;
  options.dropout = 0.5;
  test::expect_error<ConfigError>([&] { make_resnet20(options); },
                                  "[resnet20] dropout is set, which this model does not read");
  test::expect_error<ConfigError>([] { make_resnet18({.input = {100}, .classes = 10, .batch_norm = true}); },
                                  "[resnet18] input: expected images [channels, height, width], got [100]");
}

TEST(Resnet, ActivationsStayInTheConvolutionsLayout) {
  const auto model = make_resnet20({.input = {3, 32, 32}, .classes = 10, .batch_norm = true});
  initialize(*model, 1);
  const Tensor images = images_by_formula({2, 3, 32, 32});
  const Tensor targets = Tensor::from<int64_t>({1, 2}, {2});
  const auto run_micro_batch = [&] {
    const uint64_t before = ops::onednn::reorder_count();
    backward(ops::cross_entropy(model->forward(images, {.training = true}), targets).sum);
    return ops::onednn::reorder_count() - before;
  };
  run_micro_batch();
  constexpr uint64_t kConvolutions = 21;
  constexpr uint64_t kPooledFeatures = 2;  // to the plain rows of the last layer, and their gradient back
  constexpr uint64_t kMirrored = 6;        // weights of 16 x 16 channels, on their way forward
  EXPECT_EQ(run_micro_batch(), kConvolutions + kPooledFeatures + kMirrored)
      << "the second micro-batch of a step: each weight's gradient is reordered, no activation is";
}

}  // namespace
}  // namespace lockstep::models

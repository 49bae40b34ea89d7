#include "models/resnet.h"

#include <cmath>
#include <utility>
#include <vector>

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {
namespace {

/// Two 3x3 convolutions; or 1x1, 3x3, and 1x1 to four times the width.
enum class BlockKind { kBasic, kBottleneck };

struct BlockOptions {
  BlockKind kind;
  int64_t in;
  int64_t width;   // channels of the 3x3 convolutions
  int64_t stride;  // of the first of them
  bool zero_gamma;

  int64_t out() const { return kind == BlockKind::kBasic ? width : 4 * width; }
};

struct Network {
  BlockKind kind;
  std::vector<int> stages;  // blocks in each
};

/// Without bias, and padded so that a stride of 1 keeps the size of the image.
std::unique_ptr<Conv2d> convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  const auto fan_out = static_cast<double>(out * kernel * kernel);
  return std::make_unique<Conv2d>(in, out, kernel,
                                  ops::Conv2dOptions{.stride = stride, .padding = kernel / 2}, false,
                                  Initializer::normal(std::sqrt(2 / fan_out)));
}

/// relu(body(x) + shortcut(x)).
class ResidualBlock final : public Module {
 public:
  explicit ResidualBlock(const BlockOptions& options) {
    const BatchNorm2d::Options relu{.fuse_relu = true};
    const BatchNorm2d::Options last{.fuse_relu = true, .scale = options.zero_gamma ? 0.0 : 1.0};
    if (options.kind == BlockKind::kBasic) {
      add_step(convolution(options.in, options.width, 3, options.stride), options.width, relu);
      add_step(convolution(options.width, options.width, 3), options.width, last);
    } else {
      add_step(convolution(options.in, options.width, 1), options.width, relu);
      add_step(convolution(options.width, options.width, 3, options.stride), options.width, relu);
      add_step(convolution(options.width, options.out(), 1), options.out(), last);
    }
    if (options.stride == 1 && options.in == options.out()) return;
    auto downsample = std::make_unique<Sequential>();
    downsample->add("0", convolution(options.in, options.out(), 1, options.stride));
    downsample->add<BatchNorm2d>("1", options.out());
    downsample_ = downsample.get();
    adopt("downsample", std::move(downsample));
  }

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    Tensor value = input;
    for (const auto& [conv, norm] : steps_) {
      value = conv->forward(value, context);
      if (norm == steps_.back().norm) break;
      value = norm->forward(value, context);
    }
    const Tensor shortcut = downsample_ == nullptr ? input : downsample_->forward(input, context);
    return steps_.back().norm->forward(value, shortcut, context);
  }

 private:
  struct Step {
    Conv2d* conv;
    BatchNorm2d* norm;
  };

  void add_step(std::unique_ptr<Conv2d> conv, int64_t channels, const BatchNorm2d::Options& options) {
    const size_t number = steps_.size() + 1;
    Conv2d* const added = conv.get();
    adopt(to_text("conv", number), std::move(conv));
    steps_.push_back({added, &add_module<BatchNorm2d>(to_text("bn", number), channels, options)});
  }

  std::vector<Step> steps_;
  Sequential* downsample_ = nullptr;  // null: the shortcut is the input itself
};

/// Appends the stages, each with twice the channels of the one before, and what makes logits of the last.
void add_stages(Sequential& model, const Network& network, int64_t channels, const ModelOptions& options) {
  BlockOptions block{network.kind, channels, channels, 1, options.zero_gamma};
  int number = 1;
  for (const int blocks : network.stages) {
    auto stage = std::make_unique<Sequential>();
    for (int i = 0; i < blocks; ++i) {
      stage->add<ResidualBlock>(to_text(i), block);
      block.in = block.out();
      block.stride = 1;
    }
    model.add(to_text("layer", number++), std::move(stage));
    block.width *= 2;
    block.stride = 2;
  }
  model.add<AdaptiveAvgPool2d>("avgpool", ops::ImageSize{1, 1});
  model.add<Flatten>("flatten");
  model.add<Linear>("fc", block.in, options.classes);
}

void check_options(const char* name, const ModelOptions& options) {
  check_unread(name, options, {"zero_gamma"});
  check<ConfigError>(options.batch_norm, name,
                     "batch_norm: expected true, since residual networks are not without it");
  check<ConfigError>(options.input.ndim() == 3, name,
                     "input: expected images [channels, height, width], got ", options.input);
}

std::unique_ptr<Module> make_large(const char* name, const Network& network, const ModelOptions& options) {
  constexpr int64_t kChannels = 64;
  check_options(name, options);
  auto model = std::make_unique<Sequential>();
  model->add("conv1", convolution(options.input[0], kChannels, 7, 2));
  model->add<BatchNorm2d>("bn1", kChannels, BatchNorm2d::Options{.fuse_relu = true});
  model->add<MaxPool2d>("maxpool", ops::Pool2dOptions{.kernel = 3, .stride = 2, .padding = 1});
  add_stages(*model, network, kChannels, options);
  return model;
}

std::unique_ptr<Module> make_small(const char* name, int blocks, const ModelOptions& options) {
  constexpr int64_t kChannels = 16;
  check_options(name, options);
  auto model = std::make_unique<Sequential>();
  model->add("conv1", convolution(options.input[0], kChannels, 3));
  model->add<BatchNorm2d>("bn1", kChannels, BatchNorm2d::Options{.fuse_relu = true});
  add_stages(*model, {BlockKind::kBasic, {blocks, blocks, blocks}}, kChannels, options);
  return model;
}

}  // namespace

std::unique_ptr<Module> make_resnet18(const ModelOptions& options) {
  return make_large("resnet18", {BlockKind::kBasic, {2, 2, 2, 2}}, options);
}

std::unique_ptr<Module> make_resnet34(const ModelOptions& options) {
  return make_large("resnet34", {BlockKind::kBasic, {3, 4, 6, 3}}, options);
}

std::unique_ptr<Module> make_resnet50(const ModelOptions& options) {
  return make_large("resnet50", {BlockKind::kBottleneck, {3, 4, 6, 3}}, options);
}

std::unique_ptr<Module> make_resnet101(const ModelOptions& options) {
  return make_large("resnet101", {BlockKind::kBottleneck, {3, 4, 23, 3}}, options);
}

std::unique_ptr<Module> make_resnet20(const ModelOptions& options) {
  return make_small("resnet20", 3, options);
}

std::unique_ptr<Module> make_resnet56(const ModelOptions& options) {
  return make_small("resnet56", 9, options);
}

}  // namespace lockstep::models

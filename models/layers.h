// The layers that models are made of, with PyTorch's parameter names, shapes, defaults and default
// initialisation: weights and biases are uniform in +-1/sqrt(fan in), fan in = inputs that one output depends
// on (the documented default of torch.nn.Linear and torch.nn.Conv2d: He et al.'s uniform rule with a =
// sqrt(5)).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/module.h"
#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"
#include "ops/max_pool2d/max_pool2d.h"

namespace lockstep::models {

/// [n, in] -> [n, out]; weight [out, in], bias [out].
class Linear final : public Module {
 public:
  Linear(int64_t in, int64_t out);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  Parameter& weight_;
  Parameter& bias_;
};

/// [n, in, h, w] -> [n, out, h', w']; weight [out, in / groups, kernel, kernel], bias [out] unless it is left
/// out. `weight` may draw the weight in another way than the default.
class Conv2d final : public Module {
 public:
  Conv2d(int64_t in, int64_t out, int64_t kernel, const ops::Conv2dOptions& options = {}, bool bias = true,
         const std::optional<Initializer>& weight = {});
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  ops::Conv2dOptions options_;
  Parameter& weight_;
  Parameter* bias_;  // null: none
};

/// [n, channels, h, w], normalised per channel: in training by the micro-batch's own statistics, which the
/// running ones follow (the variance as the unbiased estimate); in evaluation by the running ones. Training
/// throws InvalidArgument when a channel has a single value.
class BatchNorm2d final : public Module {
 public:
  struct Options {
    double epsilon = 1e-5;
    double momentum = 0.1;  ///< weight of a new observation in the running statistics
    bool fuse_relu = false;
    double scale = 1;  ///< that all channels start with
  };
  explicit BatchNorm2d(int64_t channels) : BatchNorm2d(channels, Options{}) {}
  BatchNorm2d(int64_t channels, const Options& options);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;
  /// The same with a residual, which is added before the fused ReLU; undefined: none.
  Tensor forward(const Tensor& input, const Tensor& residual, const ForwardContext& context);

 private:
  ops::BatchNormOptions options_;
  Parameter& weight_;
  Parameter& bias_;
  RunningStatistic& running_mean_;
  RunningStatistic& running_var_;
};

class Relu final : public Module {
 public:
  Tensor forward(const Tensor& input, const ForwardContext& context) override;
};

class MaxPool2d final : public Module {
 public:
  explicit MaxPool2d(const ops::Pool2dOptions& options) : options_(options) {}
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  ops::Pool2dOptions options_;
};

class AdaptiveAvgPool2d final : public Module {
 public:
  explicit AdaptiveAvgPool2d(const ops::ImageSize& size) : size_(size) {}
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  ops::ImageSize size_;
};

/// [n, a, b, ...] -> [n, a * b * ...].
class Flatten final : public Module {
 public:
  Tensor forward(const Tensor& input, const ForwardContext& context) override;
};

/// In training zeroes each element with this probability and scales the others by 1 / (1 - probability); the
/// mask depends on the context's random key and on the layer's place in the model alone. In evaluation
/// returns its input.
class Dropout final : public Module {
 public:
  explicit Dropout(double probability);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  double probability_;
};

/// One module after another, in the order they were added.
class Sequential final : public Module {
 public:
  template <class T, class... Arguments>
  T& add(const std::string& name, Arguments&&... arguments) {
    return add_module<T>(name, std::forward<Arguments>(arguments)...);
  }
  void add(const std::string& name, std::unique_ptr<Module> module) { adopt(name, std::move(module)); }
  Tensor forward(const Tensor& input, const ForwardContext& context) override;
};

}  // namespace lockstep::models

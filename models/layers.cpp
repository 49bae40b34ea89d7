#include "models/layers.h"

#include <cmath>

#include "ops/dropout/dropout.h"
#include "ops/linear/linear.h"
#include "ops/relu/relu.h"
#include "ops/reshape/reshape.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/profile.h"

namespace lockstep::models {
namespace {

Initializer uniform_by_fan_in(int64_t fan_in) {
  return Initializer::uniform(1 / std::sqrt(static_cast<double>(fan_in)));
}

Shape filter_shape(int64_t in, int64_t out, int64_t kernel, int64_t groups) {
  check(groups > 0 && in % groups == 0 && out % groups == 0, "conv2d", "groups: expected a divisor of ", in,
        " input and ", out, " output channels, got ", groups);
  return {out, in / groups, kernel, kernel};
}

/// The unbiased estimate from the biased variance of `count` values.
Tensor unbiased(const Tensor& variance, int64_t count) {
  const double factor = static_cast<double>(count) / static_cast<double>(count - 1);
  std::vector<float> values = variance.to_vector<float>();
  for (float& value : values) value = static_cast<float>(value * factor);
  return Tensor::from(values, variance.shape());
}

}  // namespace

Linear::Linear(int64_t in, int64_t out)
    : weight_(add_parameter("weight", {out, in}, uniform_by_fan_in(in))),
      bias_(add_parameter("bias", {out}, uniform_by_fan_in(in))) {}

Tensor Linear::forward(const Tensor& input, const ForwardContext&) {
  const profile::Span span = profile::layer(weight_.name);
  return ops::linear(input, weight_.value, bias_.value);
}

Conv2d::Conv2d(int64_t in, int64_t out, int64_t kernel, const ops::Conv2dOptions& options, bool bias,
               const std::optional<Initializer>& weight)
    : options_(options),
      weight_(add_parameter("weight", filter_shape(in, out, kernel, options.groups),
                            weight.value_or(uniform_by_fan_in(in / options.groups * kernel * kernel)))),
      bias_(bias ? &add_parameter("bias", {out}, uniform_by_fan_in(in / options.groups * kernel * kernel))
                 : nullptr) {}

Tensor Conv2d::forward(const Tensor& input, const ForwardContext&) {
  const profile::Span span = profile::layer(weight_.name);
  return ops::conv2d(input, weight_.value, bias_ == nullptr ? Tensor() : bias_->value, options_);
}

BatchNorm2d::BatchNorm2d(int64_t channels, const Options& options)
    : options_{.epsilon = options.epsilon, .fuse_relu = options.fuse_relu},
      weight_(add_parameter("weight", {channels}, Initializer::constant(options.scale))),
      bias_(add_parameter("bias", {channels}, Initializer::constant(0))),
      running_mean_(add_statistic("running_mean", channels, options.momentum, 0)),
      running_var_(add_statistic("running_var", channels, options.momentum, 1)) {
  running_var_.observations = add_counter("num_batches_tracked");
}

Tensor BatchNorm2d::forward(const Tensor& input, const ForwardContext& context) {
  return forward(input, Tensor(), context);
}

Tensor BatchNorm2d::forward(const Tensor& input, const Tensor& residual, const ForwardContext& context) {
  const profile::Span span = profile::layer(weight_.name);
  if (!context.training) {
    return ops::batch_norm_inference(input, weight_.value, bias_.value, running_mean_.value,
                                     running_var_.value, options_, residual);
  }
  const ops::BatchNormResult result = ops::batch_norm(input, weight_.value, bias_.value, options_, residual);
  running_mean_.observe(result.mean);
  running_var_.observe(unbiased(result.variance, input.count() / input.dim(1)));
  return result.output;
}

Tensor Relu::forward(const Tensor& input, const ForwardContext&) {
  return ops::relu(input);
}

Tensor MaxPool2d::forward(const Tensor& input, const ForwardContext&) {
  return ops::max_pool2d(input, options_);
}

Tensor AdaptiveAvgPool2d::forward(const Tensor& input, const ForwardContext&) {
  return ops::adaptive_avg_pool2d(input, size_);
}

Tensor Flatten::forward(const Tensor& input, const ForwardContext&) {
  return ops::flatten(input, 1);
}

Dropout::Dropout(double probability) : probability_(probability) {
  check(probability >= 0 && probability < 1, "dropout", "probability: expected 0 <= probability < 1, got ",
        probability);
  add_random_layer();
}

Tensor Dropout::forward(const Tensor& input, const ForwardContext& context) {
  if (!context.training) return input;
  return ops::dropout(input, probability_, context.random, random_layer());
}

Tensor Sequential::forward(const Tensor& input, const ForwardContext& context) {
  Tensor value = input;
  for (const auto& module : children()) value = module->forward(value, context);
  return value;
}

}  // namespace lockstep::models

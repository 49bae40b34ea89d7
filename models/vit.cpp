#include "models/vit.h"

#include <cmath>

#include "models/layers.h"
#include "models/transformer.h"
#include "ops/attention/attention.h"
#include "ops/concat/concat.h"
#include "ops/conv2d/conv2d.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linear/linear.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "runtime/error.h"
#include "runtime/profile.h"

namespace lockstep::models {
namespace {

constexpr double kEpsilon = 1e-6;  // of the layer norms

struct Sizes {
  int64_t channels;
  int64_t patches;
  int64_t patch;
  int64_t layers;
  int64_t heads;
  int64_t width;
  int64_t classes;
};

/// Glorot and Bengio's uniform rule for weights [out, in]: PyTorch's xavier_uniform_.
Initializer uniform_by_both_fans(int64_t in, int64_t out) {
  return Initializer::uniform(std::sqrt(6.0 / static_cast<double>(in + out)));
}

/// An image as a sequence of patches: [n, c, h, w] -> [n, patches, width], patches in row-major order.
class PatchProjection final : public Module {
 public:
  explicit PatchProjection(const Sizes& sizes)
      : options_{.stride = sizes.patch},
        weight_(add_parameter("weight", {sizes.width, sizes.channels, sizes.patch, sizes.patch},
                              Initializer::normal(1 / std::sqrt(static_cast<double>(
                                                          sizes.channels * sizes.patch * sizes.patch))))),
        bias_(add_parameter("bias", {sizes.width}, Initializer::constant(0))) {}

  Tensor forward(const Tensor& input, const ForwardContext&) override {
    const profile::Span span = profile::layer(weight_.name);
    const Tensor grid = ops::conv2d(input, weight_.value, bias_.value, options_);
    return ops::transpose(ops::flatten(grid, 2), 1, 2);
  }

 private:
  ops::Conv2dOptions options_;
  Parameter& weight_;
  Parameter& bias_;
};

class SelfAttention final : public Module {
 public:
  explicit SelfAttention(const Sizes& sizes)
      : heads_(sizes.heads),
        qkv_weight_(add_parameter("in_proj_weight", {3 * sizes.width, sizes.width},
                                  uniform_by_both_fans(sizes.width, 3 * sizes.width))),
        qkv_bias_(add_parameter("in_proj_bias", {3 * sizes.width}, Initializer::constant(0))),
        output_(add_module<Projection>(
            "out_proj", sizes.width, sizes.width,
            Projection::Options{.weight =
                                    Initializer::uniform(1 / std::sqrt(static_cast<double>(sizes.width)))})) {
  }

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    const profile::Span span = profile::layer(qkv_weight_.name);
    const Tensor qkv = ops::linear(input, qkv_weight_.value, qkv_bias_.value);
    return output_.forward(ops::self_attention(qkv, heads_), context);
  }

 private:
  int64_t heads_;
  Parameter& qkv_weight_;
  Parameter& qkv_bias_;
  Projection& output_;
};

/// The numbers that torchvision's MLP gives its parts.
std::unique_ptr<Module> make_mlp_branch(const Sizes& sizes, double dropout) {
  const auto options = [](int64_t in, int64_t out) {
    return Projection::Options{.weight = uniform_by_both_fans(in, out), .bias = Initializer::normal(1e-6)};
  };
  const int64_t inner = 4 * sizes.width;
  auto mlp = std::make_unique<Sequential>();
  mlp->add<Projection>("0", sizes.width, inner, options(sizes.width, inner));
  mlp->add<Gelu>("1", Gelu::Form::kExact);
  if (dropout > 0) mlp->add<Dropout>("2", dropout);
  mlp->add<Projection>("3", inner, sizes.width, options(inner, sizes.width));
  return mlp;
}

std::unique_ptr<Sequential> make_blocks(const Sizes& sizes, double dropout) {
  auto blocks = std::make_unique<Sequential>();
  const TransformerBlock::Options options{
      .width = sizes.width, .epsilon = kEpsilon, .dropout = dropout, .attention_name = "self_attention"};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    blocks->add<TransformerBlock>(to_text("encoder_layer_", layer), options,
                                  std::make_unique<SelfAttention>(sizes), make_mlp_branch(sizes, dropout));
  }
  return blocks;
}

/// A sequence [n, t, width] -> its first vector, the class token's, [n, width].
class Encoder final : public Module {
 public:
  Encoder(const Sizes& sizes, double dropout)
      : places_(
            add_parameter("pos_embedding", {1, sizes.patches + 1, sizes.width}, Initializer::normal(0.02))) {
    if (dropout > 0) dropout_ = &add_module<Dropout>("dropout", dropout);
    blocks_ = &adopt("layers", make_blocks(sizes, dropout));
    norm_ = &add_module<LayerNorm>("ln", sizes.width, kEpsilon);
  }

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    Tensor x = ops::add(input, places_.value);
    if (dropout_ != nullptr) x = dropout_->forward(x, context);
    x = ops::slice(blocks_->forward(x, context), 1, {.start = 0, .stop = 1});
    return norm_->forward(ops::flatten(x, 1), context);  // of the one vector that is used
  }

 private:
  Parameter& places_;
  Module* dropout_ = nullptr;  // null: none
  Module* blocks_;
  Module* norm_;
};

class VisionTransformer final : public Module {
 public:
  VisionTransformer(const Sizes& sizes, double dropout)
      : width_(sizes.width),
        class_token_(add_parameter("class_token", {1, 1, sizes.width}, Initializer::constant(0))),
        patches_(add_module<PatchProjection>("conv_proj", sizes)),
        encoder_(add_module<Encoder>("encoder", sizes, dropout)) {
    auto heads = std::make_unique<Sequential>();
    heads->add<Projection>("head", sizes.width, sizes.classes,
                           Projection::Options{.weight = Initializer::constant(0)});
    heads_ = &adopt("heads", std::move(heads));
  }

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    const Tensor patches = patches_.forward(input, context);
    const Tensor token =
        ops::add(Tensor::zeros({patches.dim(0), 1, width_}, patches.dtype()), class_token_.value);
    return heads_->forward(encoder_.forward(ops::concat({token, patches}, 1), context), context);
  }

 private:
  int64_t width_;
  Parameter& class_token_;
  PatchProjection& patches_;
  Encoder& encoder_;
  Module* heads_;
};

}  // namespace

std::unique_ptr<Module> make_vit_small(const ModelOptions& options) {
  check_unread("vit_small", options, {"dropout", "layers", "heads", "width", "patch"});
  check<ConfigError>(options.input.ndim() == 3, "vit_small",
                     "input: expected [channels, height, width], got ", options.input);
  const int64_t patch = options.patch == 0 ? 16 : options.patch;
  const int64_t height = options.input[1];
  const int64_t width = options.input[2];
  check<ConfigError>(patch > 0 && height % patch == 0 && width % patch == 0, "vit_small",
                     "patch: expected a divisor of the image's height ", height, " and width ", width,
                     ", got ", patch);
  const Sizes sizes{.channels = options.input[0],
                    .patches = (height / patch) * (width / patch),
                    .patch = patch,
                    .layers = options.layers == 0 ? 12 : options.layers,
                    .heads = options.heads == 0 ? 6 : options.heads,
                    .width = options.width == 0 ? 384 : options.width,
                    .classes = options.classes};
  check_heads("vit_small", sizes.heads, sizes.width);
  return std::make_unique<VisionTransformer>(sizes, options.dropout.value_or(0));
}

}  // namespace lockstep::models

#include "models/gpt2.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "models/layers.h"
#include "models/transformer.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linear/linear.h"
#include "runtime/error.h"
#include "runtime/profile.h"

namespace lockstep::models {
namespace {

constexpr double kDeviation = 0.02;

struct Sizes {
  int64_t length;
  int64_t vocabulary;
  int64_t layers;
  int64_t heads;
  int64_t width;
};

Projection::Options weights(double deviation) {
  return {.weight = Initializer::normal(deviation), .input_major = true};
}

/// Deviation of the layers that end a branch: 2 N branches add up.
double last_deviation(const Sizes& sizes) {
  return kDeviation / std::sqrt(2.0 * static_cast<double>(sizes.layers));
}

class CausalSelfAttention final : public Module {
 public:
  explicit CausalSelfAttention(const Sizes& sizes)
      : heads_(sizes.heads),
        qkv_(add_module<Projection>("c_attn", sizes.width, 3 * sizes.width, weights(kDeviation))),
        output_(add_module<Projection>("c_proj", sizes.width, sizes.width, weights(last_deviation(sizes)))) {}

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    const Tensor qkv = qkv_.forward(input, context);
    return output_.forward(ops::self_attention(qkv, heads_, {.causal = true}), context);
  }

 private:
  int64_t heads_;
  Projection& qkv_;
  Projection& output_;
};

std::unique_ptr<Module> make_mlp_branch(const Sizes& sizes) {
  auto mlp = std::make_unique<Sequential>();
  mlp->add<Projection>("c_fc", sizes.width, 4 * sizes.width, weights(kDeviation));
  mlp->add<Gelu>("act", Gelu::Form::kTanh);
  mlp->add<Projection>("c_proj", 4 * sizes.width, sizes.width, weights(last_deviation(sizes)));
  return mlp;
}

std::unique_ptr<Sequential> make_blocks(const Sizes& sizes, double dropout) {
  auto blocks = std::make_unique<Sequential>();
  const TransformerBlock::Options options{
      .width = sizes.width, .epsilon = 1e-5, .dropout = dropout, .attention_name = "attn"};
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    blocks->add<TransformerBlock>(std::to_string(layer), options,
                                  std::make_unique<CausalSelfAttention>(sizes), make_mlp_branch(sizes));
  }
  return blocks;
}

class Gpt2 final : public Module {
 public:
  Gpt2(const Sizes& sizes, double dropout)
      : length_(sizes.length),
        tokens_(add_module<Embedding>("wte", sizes.vocabulary, sizes.width, Initializer::normal(kDeviation))),
        positions_(add_module<Embedding>("wpe", sizes.length, sizes.width, Initializer::normal(kDeviation))) {
    if (dropout > 0) dropout_ = &add_module<Dropout>("drop", dropout);
    blocks_ = &adopt("h", make_blocks(sizes, dropout));
    norm_ = &add_module<LayerNorm>("ln_f", sizes.width);
  }

  Tensor forward(const Tensor& input, const ForwardContext& context) override {
    check(input.ndim() == 2 && input.dim(1) <= length_, "gpt2", "expected tokens [n, t] with t <= ", length_,
          ", got ", input.shape());
    std::vector<int64_t> order(static_cast<size_t>(input.dim(1)));
    std::iota(order.begin(), order.end(), int64_t{0});
    const Tensor place = positions_.forward(Tensor::from(order, {input.dim(1)}), context);
    Tensor x = ops::add(tokens_.forward(input, context), place);
    if (dropout_ != nullptr) x = dropout_->forward(x, context);
    x = norm_->forward(blocks_->forward(x, context), context);
    const profile::Span span = profile::layer(tokens_.weight().name);
    return ops::linear(x, tokens_.weight().value);
  }

 private:
  int64_t length_;
  Embedding& tokens_;
  Embedding& positions_;
  Module* dropout_ = nullptr;  // null: none
  Module* blocks_;
  Module* norm_;
};

}  // namespace

std::unique_ptr<Module> make_gpt2(const ModelOptions& options) {
  check_unread("gpt2", options, {"dropout", "layers", "heads", "width"});
  check<ConfigError>(options.input.ndim() == 1, "gpt2", "input: expected [length] of tokens, got ",
                     options.input);
  const Sizes sizes{.length = options.input[0],
                    .vocabulary = options.classes,
                    .layers = options.layers == 0 ? 12 : options.layers,
                    .heads = options.heads == 0 ? 12 : options.heads,
                    .width = options.width == 0 ? 768 : options.width};
  check_heads("gpt2", sizes.heads, sizes.width);
  return std::make_unique<Gpt2>(sizes, options.dropout.value_or(0));
}

}  // namespace lockstep::models

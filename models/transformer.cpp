#include "models/transformer.h"

#include <utility>

#include "models/layers.h"
#include "ops/elementwise/elementwise.h"
#include "ops/embedding/embedding.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "runtime/error.h"
#include "runtime/profile.h"

namespace lockstep::models {

LayerNorm::LayerNorm(int64_t width, double epsilon)
    : epsilon_(epsilon),
      weight_(add_parameter("weight", {width}, Initializer::constant(1))),
      bias_(add_parameter("bias", {width}, Initializer::constant(0))) {}

Tensor LayerNorm::forward(const Tensor& input, const ForwardContext&) {
  const profile::Span span = profile::layer(weight_.name);
  return ops::layer_norm(input, weight_.value, bias_.value, {.epsilon = epsilon_});
}

Embedding::Embedding(int64_t count, int64_t width, const Initializer& initializer)
    : weight_(add_parameter("weight", {count, width}, initializer)) {}

Tensor Embedding::forward(const Tensor& input, const ForwardContext& context) {
  const profile::Span span = profile::layer(weight_.name);
  return ops::embedding(weight_.value, input, context.compute);
}

Projection::Projection(int64_t in, int64_t out, const Options& options)
    : input_major_(options.input_major),
      weight_(add_parameter("weight", input_major_ ? Shape{in, out} : Shape{out, in}, options.weight)),
      bias_(add_parameter("bias", {out}, options.bias)) {}

Tensor Projection::forward(const Tensor& input, const ForwardContext&) {
  const profile::Span span = profile::layer(weight_.name);
  return ops::linear(input, weight_.value, bias_.value, {.input_major = input_major_});
}

Tensor Gelu::forward(const Tensor& input, const ForwardContext&) {
  return form_ == Form::kExact ? ops::gelu(input) : ops::gelu_tanh(input);
}

TransformerBlock::TransformerBlock(const Options& options, std::unique_ptr<Module> attention,
                                   std::unique_ptr<Module> mlp)
    : norm_1_(add_module<LayerNorm>("ln_1", options.width, options.epsilon)),
      attention_(adopt(options.attention_name, std::move(attention))),
      norm_2_(add_module<LayerNorm>("ln_2", options.width, options.epsilon)),
      mlp_(adopt("mlp", std::move(mlp))) {
  if (options.dropout == 0) return;
  dropout_1_ = &add_module<Dropout>("dropout_1", options.dropout);
  dropout_2_ = &add_module<Dropout>("dropout_2", options.dropout);
}

Tensor TransformerBlock::forward(const Tensor& input, const ForwardContext& context) {
  const Tensor attended = branch(input, norm_1_, attention_, dropout_1_, context);
  return branch(attended, norm_2_, mlp_, dropout_2_, context);
}

Tensor TransformerBlock::branch(const Tensor& input, Module& norm, Module& body, Module* dropout,
                                const ForwardContext& context) const {
  Tensor change = body.forward(norm.forward(input, context), context);
  if (dropout != nullptr) change = dropout->forward(change, context);
  return ops::add(input, change);
}

void check_heads(const char* model, int64_t heads, int64_t width) {
  check<ConfigError>(heads > 0 && width > 0 && width % heads == 0, model,
                     "heads: expected a divisor of the width ", width, ", got ", heads);
}

}  // namespace lockstep::models

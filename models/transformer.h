// What transformers are made of. Their models choose the names and first values of parameters, since the
// usual weight files and training recipes differ in both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/module.h"

namespace lockstep::models {

/// Normalises along the last dimension, width; weight [width] starts as 1, bias [width] as 0.
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(int64_t width, double epsilon = 1e-5);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  double epsilon_;
  Parameter& weight_;
  Parameter& bias_;
};

/// i64 indices [..] -> rows of weight [count, width]: [.., width].
class Embedding final : public Module {
 public:
  Embedding(int64_t count, int64_t width, const Initializer& initializer);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;
  const Parameter& weight() const { return weight_; }

 private:
  Parameter& weight_;
};

/// A linear layer [.., in] -> [.., out] whose first values its model chooses; weight [out, in], or [in, out]
/// if input_major; bias [out].
class Projection final : public Module {
 public:
  struct Options {
    Initializer weight;
    Initializer bias = Initializer::constant(0);
    bool input_major = false;
  };
  Projection(int64_t in, int64_t out, const Options& options);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  bool input_major_;
  Parameter& weight_;
  Parameter& bias_;
};

class Gelu final : public Module {
 public:
  enum class Form { kExact, kTanh };
  explicit Gelu(Form form) : form_(form) {}
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  Form form_;
};

/// x + dropout(attention(ln_1(x))), of which y: y + dropout(mlp(ln_2(y))). Normalising the branches alone,
/// and not what they are added to, is the form of GPT-2 and of vision transformers.
class TransformerBlock final : public Module {
 public:
  struct Options {
    int64_t width;
    double epsilon;  ///< of the layer norms
    double dropout;
    std::string attention_name;
  };
  /// Both branches keep the shape [n, t, width].
  TransformerBlock(const Options& options, std::unique_ptr<Module> attention, std::unique_ptr<Module> mlp);
  Tensor forward(const Tensor& input, const ForwardContext& context) override;

 private:
  Tensor branch(const Tensor& input, Module& norm, Module& body, Module* dropout,
                const ForwardContext& context) const;
  Module& norm_1_;
  Module& attention_;
  Module& norm_2_;
  Module& mlp_;
  Module* dropout_1_ = nullptr;  // null: none
  Module* dropout_2_ = nullptr;
};

/// Throws ConfigError naming the model and both numbers unless `heads` divides `width`.
void check_heads(const char* model, int64_t heads, int64_t width);

}  // namespace lockstep::models

// What a config says about a model; each model's header says which fields it reads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/shape.h"

namespace lockstep::models {

struct ModelOptions {
  Shape input;                         ///< of one sample: [channels, height, width], or [length] of tokens
  int classes = 0;                     ///< length of the output per sample, or per token
  std::vector<int64_t> hidden = {};    ///< sizes of the hidden layers; empty: the model's own
  std::optional<double> dropout = {};  ///< probability; 0 leaves the layers out; unset: the model's own
  bool batch_norm = false;
  /// Residual networks: the last batch norm of every block starts with scale 0, so that a block is the
  /// identity at first (Goyal et al. 2017, section 5.1).
  bool zero_gamma = false;
  // Of transformers; 0: the model's own.
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t width = 0;  ///< of the embedding
  int64_t patch = 0;  ///< edge of an image patch in pixels
};

/// Throws ConfigError naming the model and the first option that is set, that is, not at its default, and not
/// among the names in `read`. A dropout of 0 is what a model that does not read it has. input and classes are
/// everybody's; batch_norm, which a configuration sets unless told otherwise, is left to the model.
void check_unread(const char* model, const ModelOptions& options,
                  std::initializer_list<std::string_view> read);

}  // namespace lockstep::models

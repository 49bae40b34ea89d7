// GPT-2, a causal language model: Radford et al., "Language models are unsupervised multitask learners",
// 2019.
//
//   tokens -> wte + wpe, [dropout]   ->   h.0 .. h.N-1 (attention, MLP)   ->   ln_f   ->   logits by wte
//
// Parameters have the names of Hugging Face's files, without "transformer." in front; weights of attention
// and MLP are [in, out] as there. The table that turns tokens into vectors also turns vectors into logits. At
// first weights are normal with deviation 0.02, those of the layers that end a branch divided by sqrt(2 N),
// biases 0.
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Takes i64 tokens [n, t], t at most `length`, gives logits [n, t, classes]; throws InvalidArgument naming
/// shapes, or position and value of a token, that do not fit. Reads input = [length], classes (the
/// vocabulary), layers (default 12), heads (12), width (768) and dropout; the defaults and 50257 tokens are
/// the model of 124 million parameters. Dropout acts on the embeddings and on the branches, not on
/// attention's probabilities. Has no batch norm and does not look at that option, which configurations set
/// unless told otherwise. Throws ConfigError for other options, for an input that is no length, and unless
/// heads divides width.
std::unique_ptr<Module> make_gpt2(const ModelOptions& options);

}  // namespace lockstep::models

// Scaled dot-product attention: Vaswani et al., "Attention is all you need", NIPS 2017, equation 1.
//
// Probabilities are computed for a block of queries at a time and never kept: backward computes them anew
// from the scores and two numbers per query (as Dao et al., "FlashAttention", NeurIPS 2022, section 3.1, do).
// Keeping them would take heads t^2 floats per sample and layer, 50 MB for GPT-2's 12 heads and 1024 tokens,
// where all that is kept is 13 MB; computing them again is one product of the seven. With a causal mask,
// blocks of scores that the mask would remove are not computed at all.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

struct AttentionOptions {
  bool causal = false;  ///< query i attends to keys 0..i only
  double scale = 0;     ///< of the scores; 0: 1 / sqrt(d)
};

/// softmax(scale q k^T) v for each sample and head: q [n, heads, t, d], k and v [n, heads, s, d]; returns
/// [n, heads, t, d], plain. All f32, or all bf16, which is computed in f32. q, k and v are read where they
/// lie as long as d is dense. One thread computes a head of a sample, in an order that depends on t and s
/// alone. Throws InvalidArgument naming the shapes when they do not match, when one is empty, and when causal
/// and t is not s.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

/// The same on what one linear layer makes of a sequence, without rearranging it: qkv [n, t, 3 width] holds
/// for each position the query, the key and the value, each of `heads` heads side by side; returns [n, t,
/// width]. Throws InvalidArgument naming the shape when it cannot be divided so.
Tensor self_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options = {});

}  // namespace lockstep::ops

// Both passes of attention. Operands are checked.
#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

/// [n, heads, rows, d] in memory whose last dimension is dense.
struct Heads {
  float* data;
  int64_t sample_stride;
  int64_t head_stride;
  int64_t row_stride;  ///< at least d
};

struct AttentionShape {
  int64_t samples;
  int64_t heads;
  int64_t queries;
  int64_t keys;
  int64_t width;  ///< of a head
  bool causal;
  float scale;
};

struct AttentionInputs {
  Heads q;
  Heads k;
  Heads v;
};

/// What turns a query's scores into probabilities: exp(score - greatest) * inverse_sum. Each [n, heads,
/// queries].
struct AttentionStatistics {
  float* greatest;
  float* inverse_sum;
};

/// Fills `output` and `statistics`.
void attention(const AttentionShape& shape, const AttentionInputs& inputs, const Heads& output,
               const AttentionStatistics& statistics);

/// Fills `result`, the gradients of the inputs; `grad` is that of `output`.
void attention_gradient(const AttentionShape& shape, const AttentionInputs& inputs, const Heads& output,
                        const AttentionStatistics& statistics, const Heads& grad,
                        const AttentionInputs& result);

}  // namespace lockstep::ops::cpu

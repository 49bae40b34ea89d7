// Dropout: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 2014.
#pragma once

#include <cstdint>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace lockstep::ops {

/// Each element of `x` (f32 or bf16) becomes 0 with the given probability, in [0, 1), else it is divided by 1
/// - probability. The draw of the element at row-major position i is a pure function of (key, layer, i);
/// `layer` tells the dropout layers of one forward pass apart. What is not finite stays visible: it becomes
/// NaN when dropped. Probability 0 gives `x` itself; else the result is plain. InvalidArgument otherwise.
Tensor dropout(const Tensor& x, double probability, const RandomKey& key, uint32_t layer);

}  // namespace lockstep::ops

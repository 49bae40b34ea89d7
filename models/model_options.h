// What a config says about a model; each model's header says which fields it reads.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/shape.h"

namespace lockstep::models {

struct ModelOptions {
  Shape input;                       ///< of one sample: [channels, height, width]
  int classes = 0;                   ///< length of the output per sample
  std::vector<int64_t> hidden = {};  ///< sizes of the hidden layers; empty: the model's own
  double dropout = 0;                ///< probability; 0 leaves the layers out
  bool batch_norm = false;
};

}  // namespace lockstep::models

#pragma once

#include <cstdint>

namespace lockstep::ops::cpu {

struct AccuracyExtents {
  int64_t rows = 0;
  int64_t classes = 0;
};

/// Targets outside [0, classes) never count.
int64_t count_in_top_k(const float* logits, const int64_t* targets, const AccuracyExtents& extents, int64_t k,
                       int64_t ignore_index);

}  // namespace lockstep::ops::cpu

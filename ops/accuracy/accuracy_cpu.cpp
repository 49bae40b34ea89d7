#include "ops/accuracy/accuracy_kernels.h"

namespace lockstep::ops::cpu {
namespace {

/// Comparisons with NaN are false, so a row with one is never right.
bool is_first_greatest(const float* logits, int64_t classes, int64_t target) {
  bool greatest = logits[target] == logits[target];
  for (int64_t j = 0; j < target; ++j) greatest &= logits[j] < logits[target];
  for (int64_t j = target + 1; j < classes; ++j) greatest &= logits[j] <= logits[target];
  return greatest;
}

}  // namespace

int64_t count_correct(const float* logits, const int64_t* targets, const AccuracyExtents& extents,
                      int64_t ignore_index) {
  const auto [rows, classes] = extents;
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t target = targets[row];
    if (target == ignore_index || target < 0 || target >= classes) continue;
    if (is_first_greatest(logits + row * classes, classes, target)) ++correct;
  }
  return correct;
}

}  // namespace lockstep::ops::cpu

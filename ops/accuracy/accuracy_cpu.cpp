#include <limits>

#include "ops/accuracy/accuracy_kernels.h"

namespace lockstep::ops::cpu {
namespace {

/// How many elements come before the target's; more than there are where one is NaN.
int64_t rank_of(const float* logits, int64_t classes, int64_t target) {
  const float own = logits[target];
  int64_t before = 0;
  int64_t nans = 0;
  for (int64_t j = 0; j < target; ++j) before += logits[j] >= own;
  for (int64_t j = target + 1; j < classes; ++j) before += logits[j] > own;
  for (int64_t j = 0; j < classes; ++j) nans += logits[j] != logits[j];
  return nans > 0 ? std::numeric_limits<int64_t>::max() : before;
}

}  // namespace

int64_t count_in_top_k(const float* logits, const int64_t* targets, const AccuracyExtents& extents, int64_t k,
                       int64_t ignore_index) {
  const auto [rows, classes] = extents;
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t target = targets[row];
    if (target == ignore_index || target < 0 || target >= classes) continue;
    if (rank_of(logits + row * classes, classes, target) < k) ++correct;
  }
  return correct;
}

}  // namespace lockstep::ops::cpu

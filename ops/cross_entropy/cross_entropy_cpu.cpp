#include <algorithm>
#include <cmath>

#include "ops/cpu/lane_sum.h"
#include "ops/cross_entropy/cross_entropy_kernels.h"
#include "ops/elementwise/scalar_math.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

/// Rows per thread at least.
int64_t grain_of(int64_t classes) {
  return std::max<int64_t>(1, 4096 / classes);
}

struct RowLoss {
  double loss;
  float greatest;
  float inverse_sum;
};

RowLoss row_loss(const float* logits, int64_t classes, int64_t target, double label_smoothing) {
  // Shifted by the greatest logit, no exponential overflows and the sum is at least 1.
  float greatest = logits[0];
  for (int64_t j = 1; j < classes; ++j) greatest = std::max(greatest, logits[j]);
  const double sum =
      lane_sum(classes, [=](int64_t j) { return static_cast<double>(exponential(logits[j] - greatest)); });
  const double log_sum = greatest + std::log(sum);
  double loss = (1 - label_smoothing) * (log_sum - logits[target]);
  if (label_smoothing > 0) {  // else an infinite logit would make 0 * infinity
    double spread = 0;
    for (int64_t j = 0; j < classes; ++j) spread += log_sum - logits[j];
    loss += label_smoothing / static_cast<double>(classes) * spread;
  }
  return {loss, greatest, static_cast<float>(1 / sum)};
}

}  // namespace

void cross_entropy(const float* logits, const int64_t* targets, const CrossEntropyShape& shape,
                   const CrossEntropyOptions& options, double* losses, float* greatest, float* inverse_sums) {
  parallel_for(shape.rows, grain_of(shape.classes), [&, logits, targets](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      RowLoss result{0, 0, 0};
      if (targets[row] != options.ignore_index) {
        result = row_loss(logits + row * shape.classes, shape.classes, targets[row], options.label_smoothing);
      }
      losses[row] = result.loss;
      greatest[row] = result.greatest;
      inverse_sums[row] = result.inverse_sum;
    }
  });
}

void cross_entropy_gradient(const float* logits, const int64_t* targets, const float* greatest,
                            const float* inverse_sums, const CrossEntropyShape& shape,
                            const CrossEntropyOptions& options, float g, float* gradient) {
  const int64_t classes = shape.classes;
  const auto spread = static_cast<float>(options.label_smoothing / static_cast<double>(classes));
  const auto own = static_cast<float>(1 - options.label_smoothing);
  parallel_for(shape.rows, grain_of(classes), [&, logits, targets](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* x = logits + row * classes;
      float* result = gradient + row * classes;
      if (targets[row] == options.ignore_index) {
        std::fill_n(result, classes, 0.0F);
        continue;
      }
      const float row_greatest = greatest[row];
      const float inverse_sum = inverse_sums[row];
      const auto probability = [=](int64_t j) { return exponential(x[j] - row_greatest) * inverse_sum; };
      for (int64_t j = 0; j < classes; ++j) result[j] = g * (probability(j) - spread);
      const int64_t target = targets[row];
      result[target] = g * (probability(target) - (own + spread));
    }
  });
}

}  // namespace lockstep::ops::cpu

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/cross_entropy/cross_entropy_kernels.h"
#include "ops/elementwise/scalar_math.h"
#include "ops/softmax/row.h"
#include "runtime/threads.h"
#include "runtime/wide_vectors.h"

namespace lockstep::ops::cpu {
namespace {

/// Rows per thread at least.
int64_t grain_of(int64_t classes) {
  return std::max<int64_t>(1, 4096 / classes);
}

/// Exponentials of a row that are in memory at a time: few enough for the first-level cache.
constexpr int64_t kBlock = 1024;

/// exp(logits[j] - greatest) for j in [begin, begin + count) of a row, count <= kBlock.
class Exponentials {
 public:
  Exponentials(const float* logits, int64_t count, float greatest) {
    with_wide_vectors(
        [=](float* values) {
          for (int64_t j = 0; j < count; ++j) values[j] = exponential(logits[j] - greatest);
        },
        values_.data());
  }
  float operator[](int64_t j) const { return values_[static_cast<size_t>(j)]; }

 private:
  std::array<float, kBlock> values_;
};

struct RowLoss {
  double loss;
  float greatest;
  float inverse_sum;
};

RowLoss row_loss(const float* logits, int64_t classes, int64_t target, double label_smoothing) {
  // Shifted by the greatest logit, no exponential overflows and the sum is at least 1.
  const float greatest = greatest_of(logits, classes);
  double sum = 0;
  for (int64_t begin = 0; begin < classes; begin += kBlock) {
    const int64_t count = std::min(kBlock, classes - begin);
    const Exponentials exponentials(logits + begin, count, greatest);
    sum += row_sum(count, [&](int64_t j) { return exponentials[j]; });
  }
  const double log_sum = greatest + std::log(sum);
  double loss = (1 - label_smoothing) * (log_sum - logits[target]);
  if (label_smoothing > 0) {  // else an infinite logit would make 0 * infinity
    double spread = 0;
    for (int64_t j = 0; j < classes; ++j) spread += log_sum - logits[j];
    loss += label_smoothing / static_cast<double>(classes) * spread;
  }
  return {loss, greatest, static_cast<float>(1 / sum)};
}

/// result[j] = g * (probability of class j - spread); may be the logits' own memory.
void gradient_row(const float* logits, int64_t classes, float greatest, float inverse_sum, float spread,
                  float g, float* result) {
  for (int64_t begin = 0; begin < classes; begin += kBlock) {
    const int64_t count = std::min(kBlock, classes - begin);
    const Exponentials exponentials(logits + begin, count, greatest);
    for (int64_t j = 0; j < count; ++j) result[begin + j] = g * (exponentials[j] * inverse_sum - spread);
  }
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
      const int64_t target = targets[row];
      const float target_probability = exponential(x[target] - greatest[row]) * inverse_sums[row];
      gradient_row(x, classes, greatest[row], inverse_sums[row], spread, g, result);
      result[target] = g * (target_probability - (own + spread));
    }
  });
}

}  // namespace lockstep::ops::cpu

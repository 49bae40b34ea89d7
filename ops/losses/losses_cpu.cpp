#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/elementwise/functors.h"
#include "ops/losses/losses_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
constexpr int64_t kBlock = 4096;     // elements that are added on their own, whatever the number of threads

/// The sum of term(i) over [0, count): blocks by any thread, the blocks' sums in order.
template <class Term>
double sum_of(int64_t count, Term term) {
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  parallel_for(blocks, kGrain / kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      double sum = 0;
      for (int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) sum += term(i);
      sums[static_cast<size_t>(block)] = sum;
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

double squared_error(const float* a, const float* b, int64_t count) {
  return sum_of(count, [=](int64_t i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    return difference * difference;
  });
}

void scaled_difference(const float* a, const float* b, float factor, float* result, int64_t count) {
  parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) result[i] = factor * (a[i] - b[i]);
  });
}

double binary_cross_entropy(const float* logits, const float* targets, int64_t count) {
  return sum_of(count, [=](int64_t i) {
    const double x = static_cast<double>(logits[i]);
    const double positive = x < 0 ? 0 : x;  // NaN stays
    return positive - x * static_cast<double>(targets[i]) + std::log1p(std::exp(-std::abs(x)));
  });
}

void binary_cross_entropy_gradient(const float* logits, const float* targets, float g, float* result,
                                   int64_t count) {
  parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
    const Sigmoid sigmoid;
    for (int64_t i = begin; i < end; ++i) result[i] = g * (sigmoid.value(logits[i]) - targets[i]);
  });
}

}  // namespace lockstep::ops::cpu

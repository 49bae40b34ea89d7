// oneDNN has softmax, too, but 2.6 makes numbers of NaN.
#include <cmath>

#include "ops/elementwise/scalar_math.h"
#include "ops/softmax/row.h"
#include "ops/softmax/softmax_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

/// Rows per thread at least.
int64_t grain_of(int64_t width) {
  return std::max<int64_t>(1, 4096 / std::max<int64_t>(width, 1));
}

void softmax_row(const float* x, int64_t width, float* y) {
  const float greatest = greatest_of(x, width);
  for (int64_t i = 0; i < width; ++i) y[i] = exponential(x[i] - greatest);
  const auto factor = static_cast<float>(1 / row_sum(width, [=](int64_t i) { return y[i]; }));
  for (int64_t i = 0; i < width; ++i) y[i] *= factor;
}

void log_softmax_row(const float* x, int64_t width, float* y) {
  const float greatest = greatest_of(x, width);
  const double sum = row_sum(width, [=](int64_t i) { return exponential(x[i] - greatest); });
  const auto log_sum = static_cast<float>(std::log(sum));
  for (int64_t i = 0; i < width; ++i) y[i] = x[i] - greatest - log_sum;
}

void softmax_row_gradient(const float* y, const float* grad, int64_t width, float* result) {
  const auto mean = static_cast<float>(row_sum(width, [=](int64_t i) { return y[i] * grad[i]; }));
  for (int64_t i = 0; i < width; ++i) result[i] = y[i] * (grad[i] - mean);
}

void log_softmax_row_gradient(const float* y, const float* grad, int64_t width, float* result) {
  const auto sum = static_cast<float>(row_sum(width, [=](int64_t i) { return grad[i]; }));
  for (int64_t i = 0; i < width; ++i) result[i] = grad[i] - exponential(y[i]) * sum;
}

}  // namespace

void softmax(SoftmaxKind kind, const float* x, int64_t rows, int64_t width, float* y) {
  const auto run = kind == SoftmaxKind::kSoftmax ? softmax_row : log_softmax_row;
  parallel_for(rows, grain_of(width), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) run(x + row * width, width, y + row * width);
  });
}

void softmax_gradient(SoftmaxKind kind, const float* y, const float* grad, int64_t rows, int64_t width,
                      float* result) {
  const auto run = kind == SoftmaxKind::kSoftmax ? softmax_row_gradient : log_softmax_row_gradient;
  parallel_for(rows, grain_of(width), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      run(y + row * width, grad + row * width, width, result + row * width);
    }
  });
}

}  // namespace lockstep::ops::cpu

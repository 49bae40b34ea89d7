// oneDNN has softmax, too, but 2.6 makes numbers of NaN.
#include <cmath>

#include "ops/cpu/float_type.h"
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

void softmax(SoftmaxKind kind, DType dtype, const void* x, int64_t rows, int64_t width, void* y) {
  const auto run = kind == SoftmaxKind::kSoftmax ? softmax_row : log_softmax_row;
  visit_float("softmax", dtype, [=]<class T>(T) {
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    parallel_for(rows, grain_of(width), [=](int64_t begin, int64_t end) {
      FloatRow<T> input(width);
      FloatRow<T> output(width);
      for (int64_t row = begin; row < end; ++row) {
        const float* values = input.read(from + row * width);
        output.write(to + row * width, [=](float* results) { run(values, width, results); });
      }
    });
  });
}

void softmax_gradient(SoftmaxKind kind, DType dtype, const void* y, const void* grad, int64_t rows,
                      int64_t width, void* result) {
  const auto run = kind == SoftmaxKind::kSoftmax ? softmax_row_gradient : log_softmax_row_gradient;
  visit_float("softmax", dtype, [=]<class T>(T) {
    const auto* results = static_cast<const T*>(y);
    const auto* grads = static_cast<const T*>(grad);
    auto* to = static_cast<T*>(result);
    parallel_for(rows, grain_of(width), [=](int64_t begin, int64_t end) {
      FloatRow<T> kept(width);
      FloatRow<T> seed(width);
      FloatRow<T> output(width);
      for (int64_t row = begin; row < end; ++row) {
        const float* values = kept.read(results + row * width);
        const float* slopes = seed.read(grads + row * width);
        output.write(to + row * width, [=](float* x_grad) { run(values, slopes, width, x_grad); });
      }
    });
  });
}

}  // namespace lockstep::ops::cpu

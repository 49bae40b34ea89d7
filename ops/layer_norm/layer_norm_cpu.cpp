#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "ops/cpu/float_type.h"
#include "ops/cpu/onednn.h"
#include "ops/layer_norm/layer_norm_kernels.h"
#include "ops/softmax/row.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "layer_norm";
const auto kFlags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

dnnl::layer_normalization_forward::primitive_desc describe(const Tensor& x, double epsilon) {
  const dnnl::layer_normalization_forward::desc description(
      dnnl::prop_kind::forward_training, onednn::row_major(x.shape(), x.dtype()),
      onednn::row_major({x.dim(0)}), static_cast<float>(epsilon), kFlags);
  return {description, onednn::attributes(), onednn::engine()};
}

onednn::Kernel& forward_kernel(const Tensor& x, double epsilon) {
  thread_local onednn::KernelCache cache;
  return cache.get(kName, {x}, {std::bit_cast<int64_t>(epsilon)}, [&] {
    return onednn::Kernel(
        kName, describe(x, epsilon),
        {DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_DST});
  });
}

constexpr int64_t kGrain = 1 << 14;  // elements that one thread handles at least

/// 1 / standard deviation of a row.
float inverse_of(const LayerNormStatistics& statistics, int64_t row, double epsilon) {
  return static_cast<float>(1 / std::sqrt(statistics.variance.data<float>()[row] + epsilon));
}

// With z the normalised values, s = grad gamma, and means over the row:
//   d x = (s - mean(s) - z mean(s z)) / sqrt(variance + epsilon),  d gamma = sum grad z,  d beta = sum grad.
// Not by oneDNN, which adds up the last two in an order that depends on the number of threads.

template <class T>
void row_gradient(const T* x, const T* grad, const float* scales, float center, float inverse, int64_t width,
                  T* result) {
  const auto slope = [=](int64_t i) { return static_cast<float>(grad[i]) * scales[i]; };
  const auto normalised = [=](int64_t i) { return (static_cast<float>(x[i]) - center) * inverse; };
  const auto mean = static_cast<float>(cpu::row_sum(width, slope) / static_cast<double>(width));
  const auto mean_with_z = static_cast<float>(
      cpu::row_sum(width, [=](int64_t i) { return slope(i) * normalised(i); }) / static_cast<double>(width));
  for (int64_t i = 0; i < width; ++i) {
    result[i] = static_cast<T>((slope(i) - mean - normalised(i) * mean_with_z) * inverse);
  }
}

constexpr int64_t kStrip = 64;  // columns that are added up side by side

/// Columns first, .., first + columns - 1 of the gradients of gamma and beta.
template <class T>
void strip_gradients(const Tensor& x, const Tensor& grad, const float* means,
                     const std::vector<float>& inverses, int64_t first, float* gamma_grad, float* beta_grad) {
  const int64_t width = x.dim(1);
  const int64_t columns = std::min(kStrip, width - first);
  std::array<double, kStrip> gamma_sums{};
  std::array<double, kStrip> beta_sums{};
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const T* values = x.data<T>() + row * width + first;
    const T* grads = grad.data<T>() + row * width + first;
    const float mean = means[row];
    const float inverse = inverses[static_cast<size_t>(row)];
    for (int64_t i = 0; i < columns; ++i) {
      const auto column = static_cast<size_t>(i);
      const auto slope = static_cast<float>(grads[i]);
      gamma_sums[column] += static_cast<double>(slope * ((static_cast<float>(values[i]) - mean) * inverse));
      beta_sums[column] += static_cast<double>(slope);
    }
  }
  std::copy_n(gamma_sums.begin(), columns, gamma_grad + first);
  std::copy_n(beta_sums.begin(), columns, beta_grad + first);
}

}  // namespace

void layer_norm_forward_cpu(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon,
                            const Tensor& output, const LayerNormStatistics& statistics) {
  forward_kernel(x, epsilon)
      .run({{DNNL_ARG_SRC, x},
            {DNNL_ARG_MEAN, statistics.mean},
            {DNNL_ARG_VARIANCE, statistics.variance},
            {DNNL_ARG_SCALE, gamma},
            {DNNL_ARG_SHIFT, beta},
            {DNNL_ARG_DST, output}});
}

void layer_norm_backward_cpu(const Tensor& x, const Tensor& gamma, const LayerNormStatistics& statistics,
                             double epsilon, const Tensor& grad, const Tensor& x_grad) {
  const int64_t width = x.dim(1);
  cpu::visit_float(kName, x.dtype(), [&]<class T>(T) {
    parallel_for(x.dim(0), std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = row * width;
        row_gradient(x.data<T>() + first, grad.data<T>() + first, gamma.data<float>(),
                     statistics.mean.data<float>()[row], inverse_of(statistics, row, epsilon), width,
                     x_grad.data<T>() + first);
      }
    });
  });
}

// Threads share out the columns.
void layer_norm_terms_backward_cpu(const Tensor& x, const LayerNormStatistics& statistics, double epsilon,
                                   const Tensor& grad, const Tensor& gamma_grad, const Tensor& beta_grad) {
  const int64_t rows = x.dim(0);
  std::vector<float> inverses(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    inverses[static_cast<size_t>(row)] = inverse_of(statistics, row, epsilon);
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / (rows * kStrip));
  cpu::visit_float(kName, x.dtype(), [&]<class T>(T) {
    parallel_for((x.dim(1) + kStrip - 1) / kStrip, grain, [&](int64_t begin, int64_t end) {
      for (int64_t strip = begin; strip < end; ++strip) {
        strip_gradients<T>(x, grad, statistics.mean.data<float>(), inverses, strip * kStrip,
                           gamma_grad.data<float>(), beta_grad.data<float>());
      }
    });
  });
}

}  // namespace lockstep::ops

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/cpu/float_type.h"
#include "ops/cpu/lane_sum.h"
#include "ops/group_norm/group_norm_kernels.h"
#include "ops/operands.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements that one thread handles at least

/// A group lies in memory as `channels` runs of `pixels` elements each, one after another.
struct Extents {
  Extents(const Shape& x, int64_t group_count)
      : images(x[0]), groups(group_count), channels(x[1] / groups), pixels(x.count() / (x[0] * x[1])) {}

  int64_t all_channels() const { return groups * channels; }
  int64_t group_size() const { return channels * pixels; }

  int64_t images;
  int64_t groups;
  int64_t channels;  // of a group
  int64_t pixels;
};

/// Calls visit(group, its number within the image) for the groups of all images.
template <class Visit>
void for_each_group(const Extents& extents, Visit visit) {
  const int64_t grain = std::max<int64_t>(1, kGrain / extents.group_size());
  parallel_for(extents.images * extents.groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) visit(group, group % extents.groups);
  });
}

/// Sums over the images of values [images, channels], in index order.
void sum_images(const std::vector<double>& values, const Tensor& result) {
  const int64_t channels = result.count();
  auto* sums = result.data<float>();
  for (int64_t channel = 0; channel < channels; ++channel) {
    double sum = 0;
    for (size_t i = static_cast<size_t>(channel); i < values.size(); i += static_cast<size_t>(channels)) {
      sum += values[i];
    }
    sums[channel] = static_cast<float>(sum);
  }
}

template <class T>
void forward(const Tensor& x, const Tensor& gamma, const Tensor& beta, const GroupNormOptions& options,
             const GroupNormForward& result) {
  const Extents extents(x.shape(), options.groups);
  const auto* all_values = x.data<T>();
  auto* all_results = result.output.data<T>();
  for_each_group(extents, [&](int64_t group, int64_t number) {
    const int64_t size = extents.group_size();
    const T* values = all_values + group * size;
    const auto value = [=](int64_t i) { return double{static_cast<float>(values[i])}; };
    const double mean = cpu::lane_sum(size, value) / static_cast<double>(size);
    const double variance = cpu::lane_sum(size,
                                          [&](int64_t i) {
                                            const double deviation = value(i) - mean;
                                            return deviation * deviation;
                                          }) /
                            static_cast<double>(size);
    const auto center = static_cast<float>(mean);
    const auto inverse = static_cast<float>(1 / std::sqrt(variance + options.epsilon));
    result.mean.data<float>()[group] = center;
    result.inverse.data<float>()[group] = inverse;
    T* results = all_results + group * size;
    for (int64_t channel = 0; channel < extents.channels; ++channel) {
      const float scale = gamma.data<float>()[number * extents.channels + channel] * inverse;
      const float shift = beta.data<float>()[number * extents.channels + channel];
      const int64_t first = channel * extents.pixels;
      for (int64_t i = first; i < first + extents.pixels; ++i) {
        results[i] = static_cast<T>((static_cast<float>(values[i]) - center) * scale + shift);
      }
    }
  });
}

/// With z the normalised values, s = grad gamma, and means over the group:
///   d x = (s - mean(s) - z mean(s z)) / sqrt(variance + epsilon),  d gamma = sum grad z,  d beta = sum grad.
template <class T>
void backward(const GroupNormSaved& saved, const Tensor& grad, const GroupNormGradients& result) {
  const Extents extents(saved.x.shape(), saved.mean.dim(1));
  const auto per_channel = static_cast<size_t>(extents.images * extents.all_channels());
  std::vector<double> gamma_grads(per_channel);  // of each image alone
  std::vector<double> beta_grads(per_channel);
  for_each_group(extents, [&](int64_t group, int64_t number) {
    const int64_t first_value = group * extents.group_size();
    const T* values = saved.x.data<T>() + first_value;
    const T* grads = grad.data<T>() + first_value;
    const float* scales = saved.gamma.data<float>() + number * extents.channels;
    const float center = saved.mean.data<float>()[group];
    const float inverse = saved.inverse.data<float>()[group];
    double sum = 0;
    double sum_with_z = 0;
    for (int64_t channel = 0; channel < extents.channels; ++channel) {
      const T* x = values + channel * extents.pixels;
      const T* g = grads + channel * extents.pixels;
      const auto slope = [=](int64_t i) { return double{static_cast<float>(g[i])}; };
      const double grad_sum = cpu::lane_sum(extents.pixels, slope);
      const double grad_z_sum = cpu::lane_sum(extents.pixels, [&](int64_t i) {
        return slope(i) * ((static_cast<float>(x[i]) - center) * inverse);
      });
      const auto at = static_cast<size_t>(group * extents.channels + channel);
      beta_grads[at] = grad_sum;
      gamma_grads[at] = grad_z_sum;
      sum += scales[channel] * grad_sum;
      sum_with_z += scales[channel] * grad_z_sum;
    }
    const auto size = static_cast<double>(extents.group_size());
    const auto mean = static_cast<float>(sum / size);
    const auto mean_with_z = static_cast<float>(sum_with_z / size);
    T* x_grads = result.x.data<T>() + first_value;
    for (int64_t channel = 0; channel < extents.channels; ++channel) {
      const int64_t first = channel * extents.pixels;
      for (int64_t i = first; i < first + extents.pixels; ++i) {
        const float z = (static_cast<float>(values[i]) - center) * inverse;
        const float slope = static_cast<float>(grads[i]) * scales[channel];
        x_grads[i] = static_cast<T>((slope - mean - z * mean_with_z) * inverse);
      }
    }
  });
  sum_images(gamma_grads, result.gamma);
  sum_images(beta_grads, result.beta);
}

}  // namespace

GroupNormForward group_norm_forward_cpu(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                        const GroupNormOptions& options) {
  const Shape groups{x.dim(0), options.groups};
  const GroupNormForward result{empty_like(x), Tensor::empty(groups), Tensor::empty(groups)};
  cpu::visit_float("group_norm", x.dtype(), [&]<class T>(T) { forward<T>(x, gamma, beta, options, result); });
  return result;
}

void group_norm_backward_cpu(const GroupNormSaved& saved, const Tensor& grad,
                             const GroupNormGradients& result) {
  cpu::visit_float("group_norm", grad.dtype(), [&]<class T>(T) { backward<T>(saved, grad, result); });
}

}  // namespace lockstep::ops

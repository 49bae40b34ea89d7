#include <algorithm>
#include <bit>

#include "ops/batch_norm/batch_norm_kernels.h"
#include "ops/cpu/onednn.h"
#include "ops/operands.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "batch_norm";

dnnl::normalization_flags flags_of(const BatchNormMode& mode) {
  auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  if (mode.statistics == BatchStatistics::kGiven) flags |= dnnl::normalization_flags::use_global_stats;
  if (mode.options.fuse_relu) flags |= dnnl::normalization_flags::fuse_norm_relu;
  return flags;
}

dnnl::batch_normalization_forward::primitive_desc describe(const dnnl::memory::desc& x,
                                                           const BatchNormMode& mode) {
  return {{dnnl::prop_kind::forward_training, x, static_cast<float>(mode.options.epsilon), flags_of(mode)},
          onednn::attributes(),
          onednn::engine()};
}

onednn::Kernel& forward_kernel(const Tensor& x, const BatchNormMode& mode) {
  thread_local onednn::KernelCache cache;
  return cache.get(kName, {x},
                   {static_cast<int64_t>(flags_of(mode)), std::bit_cast<int64_t>(mode.options.epsilon)}, [&] {
                     return onednn::Kernel(kName, describe(onednn::layout_of(x), mode),
                                           {DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE,
                                            DNNL_ARG_SHIFT, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
                   });
}

onednn::Kernel& backward_kernel(const Tensor& x, const BatchNormMode& mode) {
  thread_local onednn::KernelCache cache;
  return cache.get(kName, {x},
                   {static_cast<int64_t>(flags_of(mode)), std::bit_cast<int64_t>(mode.options.epsilon)}, [&] {
                     const dnnl::memory::desc layout = onednn::layout_of(x);
                     const dnnl::batch_normalization_backward::primitive_desc description(
                         {dnnl::prop_kind::backward, layout, layout, static_cast<float>(mode.options.epsilon),
                          flags_of(mode)},
                         onednn::attributes(), onednn::engine(), describe(layout, mode));
                     return onednn::Kernel(kName, description,
                                           {DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE,
                                            DNNL_ARG_SHIFT, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_DST,
                                            DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT});
                   });
}

constexpr int64_t kGrain = 1 << 14;  // elements that one thread handles at least

}  // namespace

BatchNormForward batch_norm_forward_cpu(const BatchNormInputs& inputs, const Tensor& beta,
                                        const BatchNormMode& mode) {
  onednn::Kernel& kernel = forward_kernel(inputs.x, mode);
  const BatchNormForward result{kernel.output(DNNL_ARG_DST), kernel.output(DNNL_ARG_WORKSPACE)};
  kernel.run({{DNNL_ARG_SRC, inputs.x},
              {DNNL_ARG_MEAN, kernel.input(DNNL_ARG_MEAN, inputs.mean)},
              {DNNL_ARG_VARIANCE, kernel.input(DNNL_ARG_VARIANCE, inputs.variance)},
              {DNNL_ARG_SCALE, kernel.input(DNNL_ARG_SCALE, inputs.gamma)},
              {DNNL_ARG_SHIFT, kernel.input(DNNL_ARG_SHIFT, beta)},
              {DNNL_ARG_DST, result.output},
              {DNNL_ARG_WORKSPACE, result.positive}});
  return result;
}

void batch_norm_backward_cpu(const BatchNormInputs& inputs, const Tensor& grad, const Tensor& positive,
                             const BatchNormMode& mode, const BatchNormGradients& result) {
  onednn::Kernel& kernel = backward_kernel(inputs.x, mode);
  const Tensor gamma = kernel.input(DNNL_ARG_SCALE, inputs.gamma);
  kernel.run({{DNNL_ARG_SRC, inputs.x},
              {DNNL_ARG_MEAN, kernel.input(DNNL_ARG_MEAN, inputs.mean)},
              {DNNL_ARG_VARIANCE, kernel.input(DNNL_ARG_VARIANCE, inputs.variance)},
              {DNNL_ARG_SCALE, gamma},
              {DNNL_ARG_SHIFT, gamma},  // 2.6 insists on a shift, which it does not read
              {DNNL_ARG_WORKSPACE, positive},
              {DNNL_ARG_DIFF_DST, kernel.input(DNNL_ARG_DIFF_DST, grad)},
              {DNNL_ARG_DIFF_SRC, result.x},
              {DNNL_ARG_DIFF_SCALE, result.gamma},
              {DNNL_ARG_DIFF_SHIFT, result.beta}});
}

// oneDNN 2.6 cannot add within its batch norm (3.x can: fuse_norm_add_relu), so that the sum is a pass of its
// own: three accesses an element, where an addition and a ReLU apart from each other would make five, and the
// result is the only tensor that backward needs of it.
void add_residual_cpu(const Tensor& residual, Sum sum, const Tensor& output) {
  const Tensor addend = onednn::to_layout(residual, output.layout());
  const auto* added = static_cast<const float*>(addend.raw());
  auto* values = static_cast<float*>(output.raw());
  parallel_for(stored_count(output), kGrain, [=](int64_t begin, int64_t end) {
    if (sum == Sum::kPlain) {
      for (int64_t i = begin; i < end; ++i) values[i] += added[i];
    } else {
      for (int64_t i = begin; i < end; ++i) values[i] = std::max(values[i] + added[i], 0.0F);
    }
  });
}

Tensor positive_part_gradient_cpu(const Tensor& grad, const Tensor& output) {
  const Tensor source = onednn::to_layout(grad, output.layout());
  const Tensor result = empty_like(output);
  const auto* grads = static_cast<const float*>(source.raw());
  const auto* values = static_cast<const float*>(output.raw());
  auto* results = static_cast<float*>(result.raw());
  parallel_for(stored_count(output), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) results[i] = values[i] <= 0 ? 0.0F : grads[i];
  });
  return result;
}

}  // namespace lockstep::ops

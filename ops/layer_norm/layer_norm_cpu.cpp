#include <bit>

#include "ops/cpu/onednn.h"
#include "ops/layer_norm/layer_norm_kernels.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "layer_norm";
const auto kFlags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

dnnl::layer_normalization_forward::primitive_desc describe(const Tensor& x, double epsilon) {
  const dnnl::layer_normalization_forward::desc description(
      dnnl::prop_kind::forward_training, onednn::row_major(x.shape()), onednn::row_major({x.dim(0)}),
      static_cast<float>(epsilon), kFlags);
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

onednn::Kernel& backward_kernel(const Tensor& x, double epsilon) {
  thread_local onednn::KernelCache cache;
  return cache.get(kName, {x}, {std::bit_cast<int64_t>(epsilon)}, [&] {
    const dnnl::memory::desc matrix = onednn::row_major(x.shape());
    const dnnl::layer_normalization_backward::desc description(dnnl::prop_kind::backward, matrix, matrix,
                                                               onednn::row_major({x.dim(0)}),
                                                               static_cast<float>(epsilon), kFlags);
    const dnnl::layer_normalization_backward::primitive_desc primitive(
        description, onednn::attributes(), onednn::engine(), describe(x, epsilon));
    return onednn::Kernel(kName, primitive,
                          {DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT,
                           DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT});
  });
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
                             double epsilon, const Tensor& grad, const LayerNormGradients& result) {
  backward_kernel(x, epsilon)
      .run({{DNNL_ARG_SRC, x},
            {DNNL_ARG_MEAN, statistics.mean},
            {DNNL_ARG_VARIANCE, statistics.variance},
            {DNNL_ARG_SCALE, gamma},
            {DNNL_ARG_SHIFT, gamma},  // 2.6 insists on a shift, which it does not read
            {DNNL_ARG_DIFF_DST, grad},
            {DNNL_ARG_DIFF_SRC, result.x},
            {DNNL_ARG_DIFF_SCALE, result.gamma},
            {DNNL_ARG_DIFF_SHIFT, result.beta}});
}

}  // namespace lockstep::ops

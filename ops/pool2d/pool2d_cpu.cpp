#include "ops/pool2d/pool2d_cpu.h"

#include "ops/operands.h"

namespace lockstep::ops::onednn {
namespace {

dnnl::pooling_forward::primitive_desc describe(const Pooling& pooling, const dnnl::memory::desc& input,
                                               const Shape& output_shape) {
  const dnnl::memory::dims strides(2, pooling.options.stride);
  const dnnl::memory::dims kernel(2, pooling.options.kernel);
  const dnnl::memory::dims padding(2, pooling.options.padding);
  return {{dnnl::prop_kind::forward_training, pooling.algorithm, input, any_layout(output_shape), strides,
           kernel, padding, padding},
          attributes(),
          engine()};
}

}  // namespace

PoolingForward pool_forward(const Pooling& pooling, const Tensor& x, const Shape& output_shape) {
  thread_local KernelCache cache;
  const auto& options = pooling.options;
  const Tensor input = dense(x);
  Kernel& kernel = cache.get(
      pooling.operation, {input},
      {static_cast<int64_t>(pooling.algorithm), options.kernel, options.stride, options.padding}, [&] {
        return Kernel(pooling.operation, describe(pooling, layout_of(input), output_shape),
                      {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
      });
  const PoolingForward result{kernel.output(DNNL_ARG_DST), kernel.output(DNNL_ARG_WORKSPACE)};
  kernel.run({{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, result.output}, {DNNL_ARG_WORKSPACE, result.workspace}});
  return result;
}

void pool_backward(const Pooling& pooling, const Tensor& grad, const Tensor& workspace,
                   const Tensor& input_grad) {
  thread_local KernelCache cache;
  const auto& options = pooling.options;
  Kernel& kernel = cache.get(
      pooling.operation, {input_grad, grad},
      {static_cast<int64_t>(pooling.algorithm), options.kernel, options.stride, options.padding}, [&] {
        const dnnl::memory::desc input = layout_of(input_grad);
        const auto forward = describe(pooling, input, grad.shape());
        const dnnl::memory::dims strides(2, options.stride);
        const dnnl::memory::dims window(2, options.kernel);
        const dnnl::memory::dims padding(2, options.padding);
        const dnnl::pooling_backward::primitive_desc description(
            {pooling.algorithm, input, forward.dst_desc(), strides, window, padding, padding}, attributes(),
            engine(), forward);
        return Kernel(pooling.operation, description,
                      {DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC});
      });
  kernel.run({{DNNL_ARG_DIFF_DST, kernel.input(DNNL_ARG_DIFF_DST, grad)},
              {DNNL_ARG_WORKSPACE, workspace},
              {DNNL_ARG_DIFF_SRC, input_grad}});
}

}  // namespace lockstep::ops::onednn

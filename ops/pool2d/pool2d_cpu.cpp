#include "ops/pool2d/pool2d_cpu.h"

#include <functional>

#include "ops/operands.h"

namespace lockstep::ops::onednn {
namespace {

/// `input` is the operand or its gradient.
dnnl::pooling_forward::primitive_desc describe(const Pooling& pooling, const Tensor& input,
                                               const Shape& output_shape) {
  return {{dnnl::prop_kind::forward_training, pooling.algorithm, layout_of(input),
           any_layout(output_shape, input.dtype()), pooling.stride, pooling.kernel, pooling.padding,
           pooling.padding},
          attributes(),
          engine()};
}

Kernel& cached(KernelCache& cache, const Pooling& pooling, std::initializer_list<Tensor> tensors,
               const std::function<Kernel()>& make) {
  return cache.get(pooling.operation, tensors,
                   {static_cast<int64_t>(pooling.algorithm), pooling.kernel[0], pooling.kernel[1],
                    pooling.stride[0], pooling.stride[1], pooling.padding[0], pooling.padding[1]},
                   make);
}

}  // namespace

Pooling square_pooling(const char* operation, dnnl::algorithm algorithm, const Pool2dOptions& options) {
  return {operation, algorithm, dnnl::memory::dims(2, options.kernel), dnnl::memory::dims(2, options.stride),
          dnnl::memory::dims(2, options.padding)};
}

PoolingForward pool_forward(const Pooling& pooling, const Tensor& x, const Shape& output_shape) {
  thread_local KernelCache cache;
  const Tensor input = dense(x);
  Kernel& kernel = cached(cache, pooling, {input}, [&] {
    return Kernel(pooling.operation, describe(pooling, input, output_shape),
                  {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
  });
  const PoolingForward result{kernel.output(DNNL_ARG_DST), kernel.output(DNNL_ARG_WORKSPACE)};
  kernel.run({{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, result.output}, {DNNL_ARG_WORKSPACE, result.workspace}});
  return result;
}

void pool_backward(const Pooling& pooling, const Tensor& grad, const Tensor& workspace,
                   const Tensor& input_grad) {
  thread_local KernelCache cache;
  Kernel& kernel = cached(cache, pooling, {input_grad, grad}, [&] {
    const auto forward = describe(pooling, input_grad, grad.shape());
    const dnnl::pooling_backward::primitive_desc description(
        {pooling.algorithm, layout_of(input_grad), forward.dst_desc(), pooling.stride, pooling.kernel,
         pooling.padding, pooling.padding},
        attributes(), engine(), forward);
    return Kernel(pooling.operation, description, {DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC});
  });
  kernel.run({{DNNL_ARG_DIFF_DST, kernel.input(DNNL_ARG_DIFF_DST, grad)},
              {DNNL_ARG_WORKSPACE, workspace},
              {DNNL_ARG_DIFF_SRC, input_grad}});
}

}  // namespace lockstep::ops::onednn

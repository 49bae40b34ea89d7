#include "ops/conv2d/conv2d_kernels.h"
#include "ops/cpu/onednn.h"

namespace lockstep::ops {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;

constexpr const char* kName = "conv2d";

/// With 32 channels or more on both sides the library may take Winograd's form, by a fixed rule on shapes and
/// instruction set, never by timing: with AVX-512 it runs 3x3 convolutions at 1.6 to 2.6 times the speed of
/// the direct form. With fewer the transforms cost more than they save (8 -> 8: 0.75 times, 1 -> 32: 0.13
/// times the speed), which that rule does not know.
dnnl::algorithm algorithm_for(const Shape& weight) {
  constexpr int64_t kEnoughChannels = 32;
  const bool many = weight[0] >= kEnoughChannels && weight[1] >= kEnoughChannels;
  return many ? dnnl::algorithm::convolution_auto : dnnl::algorithm::convolution_direct;
}

/// The library has a dimension for groups.
Shape grouped(const Shape& weight, int64_t groups) {
  if (groups == 1) return weight;
  return {groups, weight[0] / groups, weight[1], weight[2], weight[3]};
}

/// What the descriptions of the three passes have in common.
struct Problem {
  Problem(const Shape& input_shape, const Shape& weight_shape, const Shape& output_shape, bool has_bias,
          const Conv2dOptions& options)
      : algorithm(algorithm_for(weight_shape)),
        input(onednn::any_layout(input_shape)),
        weight(onednn::any_layout(grouped(weight_shape, options.groups))),
        bias(has_bias ? onednn::row_major({weight_shape[0]}) : dnnl::memory::desc()),
        output(onednn::any_layout(output_shape)),
        strides(2, options.stride),
        dilates(2, options.dilation - 1),
        padding(2, options.padding) {}

  convolution_forward::primitive_desc forward() const {
    return {{dnnl::prop_kind::forward_training, algorithm, input, weight, bias, output, strides, dilates,
             padding, padding},
            onednn::attributes(),
            onednn::engine()};
  }

  dnnl::algorithm algorithm;
  dnnl::memory::desc input, weight, bias, output;
  dnnl::memory::dims strides, dilates, padding;
};

}  // namespace

Conv2dForward conv2d_forward_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Shape& output_shape, const Conv2dOptions& options) {
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(
      kName, {x, weight, bias}, {options.stride, options.padding, options.dilation, options.groups}, [&] {
        const Problem problem(x.shape(), weight.shape(), output_shape, bias.defined(), options);
        return onednn::Kernel(kName, problem.forward(),
                              {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
      });
  const Tensor input = kernel.input(DNNL_ARG_SRC, x.detach());
  const Tensor output = kernel.output(DNNL_ARG_DST);
  kernel.run({{DNNL_ARG_SRC, input},
              {DNNL_ARG_WEIGHTS, kernel.input(DNNL_ARG_WEIGHTS, weight)},
              {DNNL_ARG_BIAS, bias.defined() ? kernel.input(DNNL_ARG_BIAS, bias) : bias},
              {DNNL_ARG_DST, output}});
  return {output, input};
}

Tensor conv2d_backward_data_cpu(const Tensor& grad, const Tensor& weight, const Shape& input_shape,
                                const Conv2dOptions& options) {
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(
      kName, {grad, weight},
      {options.stride, options.padding, options.dilation, options.groups, input_shape[2], input_shape[3]},
      [&] {
        const Problem problem(input_shape, weight.shape(), grad.shape(), false, options);
        const convolution_backward_data::primitive_desc description(
            {problem.algorithm, problem.input, problem.weight, problem.output, problem.strides,
             problem.dilates, problem.padding, problem.padding},
            onednn::attributes(), onednn::engine(), problem.forward());
        return onednn::Kernel(kName, description, {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
      });
  const Tensor input_grad = kernel.output(DNNL_ARG_DIFF_SRC);
  kernel.run({{DNNL_ARG_DIFF_DST, kernel.input(DNNL_ARG_DIFF_DST, grad)},
              {DNNL_ARG_WEIGHTS, kernel.input(DNNL_ARG_WEIGHTS, weight)},
              {DNNL_ARG_DIFF_SRC, input_grad}});
  return input_grad;
}

void conv2d_backward_weight_cpu(const Tensor& x, const Tensor& grad, const Tensor& weight_grad,
                                const Tensor& bias_grad, const Conv2dOptions& options) {
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(
      kName, {x, grad, weight_grad, bias_grad},
      {options.stride, options.padding, options.dilation, options.groups}, [&] {
        const Problem problem(x.shape(), weight_grad.shape(), grad.shape(), bias_grad.defined(), options);
        const convolution_backward_weights::primitive_desc description(
            {problem.algorithm, problem.input, problem.weight, problem.bias, problem.output, problem.strides,
             problem.dilates, problem.padding, problem.padding},
            onednn::attributes(), onednn::engine(), problem.forward());
        return onednn::Kernel(kName, description,
                              {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS});
      });
  const bool in_place = !kernel.layout(DNNL_ARG_DIFF_WEIGHTS);
  const Tensor computed = in_place ? weight_grad : kernel.output(DNNL_ARG_DIFF_WEIGHTS, weight_grad.shape());
  kernel.run({{DNNL_ARG_SRC, kernel.input(DNNL_ARG_SRC, x)},
              {DNNL_ARG_DIFF_DST, kernel.input(DNNL_ARG_DIFF_DST, grad)},
              {DNNL_ARG_DIFF_WEIGHTS, computed},
              {DNNL_ARG_DIFF_BIAS, bias_grad}});
  if (!in_place) Tensor(weight_grad).copy_from(computed);
}

}  // namespace lockstep::ops

#include <algorithm>
#include <array>

#include "ops/conv2d/conv2d_forms.h"
#include "ops/conv2d/conv2d_kernels.h"
#include "ops/cpu/onednn.h"

namespace lockstep::ops {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;

constexpr const char* kName = "conv2d";

/// The library has a dimension for groups.
Shape grouped(const Shape& weight, int64_t groups) {
  if (groups == 1) return weight;
  return {groups, weight[0] / groups, weight[1], weight[2], weight[3]};
}

dnnl::memory::desc activations(ConvolutionPass pass, DType dtype, const Shape& shape, const Shape& weight,
                               const Conv2dOptions& options) {
  return channels_last_is_faster(pass, dtype, weight, options) ? onednn::channels_last(shape, dtype)
                                                               : onednn::any_layout(shape, dtype);
}

/// What the descriptions of the three passes have in common. Activations and the weights that meet them are
/// of type `dtype`; the bias, and the gradients of weight and bias, are f32.
struct Problem {
  Problem(ConvolutionPass pass, DType dtype, const Shape& input_shape, const Shape& weight_shape,
          const Shape& output_shape, bool has_bias, const Conv2dOptions& options)
      : fastest(fastest_form(pass, weight_shape, options)),
        input(activations(pass, dtype, input_shape, weight_shape, options)),
        weight(onednn::any_layout(grouped(weight_shape, options.groups), dtype)),
        weight_grad(onednn::any_layout(grouped(weight_shape, options.groups))),
        bias(has_bias ? onednn::row_major({weight_shape[0]}) : dnnl::memory::desc()),
        output(activations(pass, dtype, output_shape, weight_shape, options)),
        strides(2, options.stride),
        dilates(2, options.dilation - 1),
        padding(2, options.padding) {}

  convolution_forward::primitive_desc forward(dnnl::algorithm form) const {
    return {{dnnl::prop_kind::forward_training, form, input, weight, bias, output, strides, dilates, padding,
             padding},
            onednn::attributes(),
            onednn::engine(),
            kMayBeRefused};
  }
  convolution_backward_data::primitive_desc backward_data(dnnl::algorithm form) const {
    return {{form, input, weight, output, strides, dilates, padding, padding},
            onednn::attributes(),
            onednn::engine(),
            forward(form),
            kMayBeRefused};
  }
  convolution_backward_weights::primitive_desc backward_weights(dnnl::algorithm form) const {
    return {{form, input, weight_grad, bias, output, strides, dilates, padding, padding},
            onednn::attributes(),
            onednn::engine(),
            forward(form),
            kMayBeRefused};
  }

  /// What `describe` makes of the fastest form that the library has on this processor.
  template <class Describe>
  auto in_fastest_form(Describe describe) const {
    if (forward(fastest)) {
      if (auto description = describe(fastest)) return description;
    }
    return describe(dnnl::algorithm::convolution_direct);
  }

  static constexpr bool kMayBeRefused = true;  // an empty description instead of an error
  dnnl::algorithm fastest;
  dnnl::memory::desc input, weight, weight_grad, bias, output;
  dnnl::memory::dims strides, dilates, padding;
};

/// [o, c, kh, kw] -> [c, o, kh, kw] with the taps in reverse order.
Tensor mirrored(const Tensor& weight) {
  const Tensor source = weight.contiguous();
  const auto [out, in, taps] = std::array{source.dim(0), source.dim(1), source.dim(2) * source.dim(3)};
  const Tensor result = Tensor::empty({in, out, source.dim(2), source.dim(3)});
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t c = 0; c < in; ++c) {
      const float* from = source.data<float>() + (o * in + c) * taps;
      std::reverse_copy(from, from + taps, result.data<float>() + (c * out + o) * taps);
    }
  }
  return result;
}

onednn::Kernel& backward_data_kernel(const Tensor& grad, const Tensor& weight, const Shape& input_shape,
                                     const Conv2dOptions& options) {
  thread_local onednn::KernelCache cache;
  return cache.get(
      kName, {grad, weight},
      {options.stride, options.padding, options.dilation, options.groups, input_shape[2], input_shape[3]},
      [&] {
        const Problem problem(ConvolutionPass::kBackwardData, grad.dtype(), input_shape, weight.shape(),
                              grad.shape(), false, options);
        const auto description =
            problem.in_fastest_form([&](auto form) { return problem.backward_data(form); });
        return onednn::Kernel(kName, description, {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
      });
}

Tensor run_backward_data(onednn::Kernel& kernel, const Tensor& grad, const Tensor& weight) {
  const Tensor input_grad = kernel.output(DNNL_ARG_DIFF_SRC);
  kernel.run({{DNNL_ARG_DIFF_DST, grad}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DIFF_SRC, input_grad}});
  return input_grad;
}

}  // namespace

Conv2dForward conv2d_forward_cpu(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Shape& output_shape, const Conv2dOptions& options) {
  const bool f32 = x.dtype() == DType::kF32;
  if (f32 && !bias.defined() && forward_as_backward_data(weight.shape(), options)) {
    onednn::Kernel& kernel = backward_data_kernel(x, weight, output_shape, options);
    const Tensor input = kernel.input(DNNL_ARG_DIFF_DST, x.detach());
    return {run_backward_data(kernel, input, kernel.input(DNNL_ARG_WEIGHTS, mirrored(weight))), input};
  }
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(
      kName, {x, weight, bias}, {options.stride, options.padding, options.dilation, options.groups}, [&] {
        const Problem problem(ConvolutionPass::kForward, x.dtype(), x.shape(), weight.shape(), output_shape,
                              bias.defined(), options);
        const auto description = problem.in_fastest_form([&](auto form) { return problem.forward(form); });
        return onednn::Kernel(kName, description,
                              {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
      });
  const Tensor input = kernel.input(DNNL_ARG_SRC, x.detach());
  const Tensor output = kernel.output(DNNL_ARG_DST);
  kernel.run({{DNNL_ARG_SRC, input},
              {DNNL_ARG_WEIGHTS, kernel.packed(DNNL_ARG_WEIGHTS, weight)},
              {DNNL_ARG_BIAS, bias.defined() ? kernel.input(DNNL_ARG_BIAS, bias) : bias},
              {DNNL_ARG_DST, output}});
  return {output, input};
}

Tensor conv2d_backward_data_cpu(const Tensor& grad, const Tensor& weight, const Shape& input_shape,
                                const Conv2dOptions& options) {
  onednn::Kernel& kernel = backward_data_kernel(grad, weight, input_shape, options);
  return run_backward_data(kernel, kernel.input(DNNL_ARG_DIFF_DST, grad),
                           kernel.packed(DNNL_ARG_WEIGHTS, weight));
}

void conv2d_backward_weight_cpu(const Tensor& x, const Tensor& grad, const Tensor& weight_grad,
                                const Tensor& bias_grad, const Conv2dOptions& options) {
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(
      kName, {x, grad, weight_grad, bias_grad},
      {options.stride, options.padding, options.dilation, options.groups}, [&] {
        const Problem problem(ConvolutionPass::kBackwardWeights, x.dtype(), x.shape(), weight_grad.shape(),
                              grad.shape(), bias_grad.defined(), options);
        const auto description =
            problem.in_fastest_form([&](auto form) { return problem.backward_weights(form); });
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

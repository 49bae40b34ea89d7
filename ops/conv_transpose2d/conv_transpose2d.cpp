#include "ops/conv_transpose2d/conv_transpose2d.h"

#include "ops/conv2d/conv2d_kernels.h"
#include "ops/conv_transpose2d/conv_transpose2d_kernels.h"
#include "ops/operands.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/window.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "conv_transpose2d";

void check_operands(const Tensor& x, const Tensor& weight, const Tensor& bias,
                    const ConvTranspose2dOptions& options) {
  check_float(kName, x);
  check_f32(kName, weight);
  check_cpu(kName, x);
  check_cpu(kName, weight);
  check(options.stride >= 1 && options.padding >= 0 && options.dilation >= 1 && options.groups >= 1, kName,
        "expected stride, dilation and groups of at least 1 and no negative padding, got stride ",
        options.stride, ", padding ", options.padding, ", dilation ", options.dilation, ", groups ",
        options.groups);
  check(options.output_padding >= 0 && options.output_padding < options.stride, kName,
        "expected an output padding from 0 to stride - 1, got ", options.output_padding, " with stride ",
        options.stride);
  check(x.ndim() == 4 && weight.ndim() == 4, kName,
        "expected input [n, c, h, w] and weight [c, o / groups, kh, kw], got input ", x.shape(),
        " and weight ", weight.shape());
  check(x.count() > 0 && weight.count() > 0, kName, "empty batch, image or weight: input ", x.shape(),
        ", weight ", weight.shape());
  check(x.dim(1) == weight.dim(0) && x.dim(1) % options.groups == 0, kName, "channels do not match: input ",
        x.shape(), ", weight ", weight.shape(), ", groups ", options.groups);
  if (bias.defined()) {
    check_f32(kName, bias);
    check_cpu(kName, bias);
    check(bias.shape() == Shape{weight.dim(1) * options.groups}, kName, "expected bias [",
          weight.dim(1) * options.groups, "] for weight ", weight.shape(), " and groups ", options.groups,
          ", got ", bias.shape());
  }
}

/// That of the image which the convolution would have seen.
Shape output_shape(const Tensor& x, const Tensor& weight, const ConvTranspose2dOptions& options) {
  const Window rows{weight.dim(2), options.stride, options.padding, options.dilation};
  const Window columns{weight.dim(3), options.stride, options.padding, options.dilation};
  const int64_t height = rows.extent(x.dim(2)) + options.output_padding;
  const int64_t width = columns.extent(x.dim(3)) + options.output_padding;
  check(height > 0 && width > 0, kName, "nothing is left of the result, [", height, ", ", width, "]: input ",
        x.shape(), ", weight ", weight.shape(), ", padding ", options.padding);
  return {x.dim(0), weight.dim(1) * options.groups, height, width};
}

}  // namespace

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& options) {
  profile::Span span(kName);
  check_operands(x, weight, bias, options);
  const Conv2dOptions convolution{options.stride, options.padding, options.dilation, options.groups};
  const Tensor result =
      conv2d_backward_data_cpu(x.detach(), weight.detach(), output_shape(x, weight, options), convolution);
  if (bias.defined()) add_channel_bias_cpu(result, bias.detach());
  const double operations = 2.0 * static_cast<double>(x.count() * weight.count() / weight.dim(0));
  span.set_operations(operations, {operations, operations});
  return record(kName, result, {x, weight, bias},
                [convolution, input = SavedTensor(x, kName),
                 saved_weight = SavedTensor(weight, kName)](BackwardContext& context) {
                  const Tensor& grad = context.grad();
                  if (context.needs(0)) {
                    context.add(0, conv2d_forward_cpu(grad, saved_weight.get(), Tensor(), input.get().shape(),
                                                      convolution)
                                       .output);
                  }
                  if (context.needs(1)) {
                    const Tensor weight_grad = context.destination(1);
                    conv2d_backward_weight_cpu(grad, input.get(), weight_grad, Tensor(), convolution);
                    context.add(1, weight_grad);
                  }
                  if (context.needs(2)) {
                    const Shape per_channel{1, grad.dim(1), 1, 1};
                    context.add(2, reshape(sum_to(grad, per_channel), context.shape(2)));
                  }
                });
}

}  // namespace lockstep::ops

#include "ops/conv2d/conv2d.h"

#include "ops/conv2d/conv2d_kernels.h"
#include "ops/operands.h"
#include "ops/window.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "conv2d";

void check_operands(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  check_float(kName, x);
  check_f32(kName, weight);
  check_cpu(kName, x);
  check_cpu(kName, weight);
  check(options.stride >= 1 && options.padding >= 0 && options.dilation >= 1 && options.groups >= 1, kName,
        "expected stride, dilation and groups of at least 1 and no negative padding, got stride ",
        options.stride, ", padding ", options.padding, ", dilation ", options.dilation, ", groups ",
        options.groups);
  check(x.ndim() == 4 && weight.ndim() == 4, kName,
        "expected input [n, c, h, w] and weight [o, c, kh, kw], got input ", x.shape(), " and weight ",
        weight.shape());
  check(x.count() > 0 && weight.count() > 0, kName, "empty batch, image or weight: input ", x.shape(),
        ", weight ", weight.shape());
  check(x.dim(1) == weight.dim(1) * options.groups && weight.dim(0) % options.groups == 0, kName,
        "channels do not match: input ", x.shape(), ", weight ", weight.shape(), ", groups ", options.groups);
  if (bias.defined()) {
    check_f32(kName, bias);
    check_cpu(kName, bias);
    check(bias.shape() == Shape{weight.dim(0)}, kName, "expected bias [", weight.dim(0), "] for weight ",
          weight.shape(), ", got ", bias.shape());
  }
}

Shape output_shape(const Tensor& x, const Tensor& weight, const Conv2dOptions& options) {
  const Window rows{weight.dim(2), options.stride, options.padding, options.dilation};
  const Window columns{weight.dim(3), options.stride, options.padding, options.dilation};
  check(rows.fits(x.dim(2)) && columns.fits(x.dim(3)), kName,
        "the kernel is larger than the padded image: input ", x.shape(), ", weight ", weight.shape(),
        ", padding ", options.padding, ", dilation ", options.dilation);
  return {x.dim(0), weight.dim(0), rows.positions(x.dim(2)), columns.positions(x.dim(3))};
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  profile::Span span(kName);
  check_operands(x, weight, bias, options);
  const Conv2dForward forward =
      conv2d_forward_cpu(x, weight, bias, output_shape(x, weight, options), options);
  const double operations =
      2.0 * static_cast<double>(forward.output.count() * weight.count() / weight.dim(0));
  span.set_operations(operations, {operations, operations});
  return record(kName, forward.output, {x, weight, bias},
                [options, input = SavedTensor(forward.input, kName),
                 saved_weight = SavedTensor(weight, kName)](BackwardContext& context) {
                  const Tensor& grad = context.grad();
                  if (context.needs(0)) {
                    context.add(
                        0, conv2d_backward_data_cpu(grad, saved_weight.get(), input.get().shape(), options));
                  }
                  if (!context.needs(1) && !context.needs(2)) return;
                  const Tensor weight_grad = context.destination(1);
                  const Tensor bias_grad = context.needs(2) ? context.destination(2) : Tensor();
                  conv2d_backward_weight_cpu(input.get(), grad, weight_grad, bias_grad, options);
                  if (context.needs(1)) context.add(1, weight_grad);
                  if (context.needs(2)) context.add(2, bias_grad);
                });
}

}  // namespace lockstep::ops

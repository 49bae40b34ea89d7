#include "ops/avg_pool2d/avg_pool2d.h"

#include "ops/avg_pool2d/avg_pool2d_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {

Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  const profile::Span span("avg_pool2d");
  Pool2dOptions window{options.kernel, options.stride, options.padding};
  const Shape shape = check_pool2d("avg_pool2d", x, window);
  const auto divisor = options.count_include_pad ? Divisor::kWindow : Divisor::kInside;
  const Tensor result = avg_pool2d_forward_cpu(x, shape, window, divisor);
  return record("avg_pool2d", result, {x},
                [window, divisor, input = InputFormat(x)](BackwardContext& context) {
                  const Tensor x_grad = input.empty();
                  avg_pool2d_backward_cpu(context.grad(), window, divisor, x_grad);
                  context.add(0, x_grad);
                });
}

}  // namespace lockstep::ops

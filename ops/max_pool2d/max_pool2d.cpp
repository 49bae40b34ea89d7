#include "ops/max_pool2d/max_pool2d.h"

#include "ops/max_pool2d/max_pool2d_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "max_pool2d";

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& given) {
  const profile::Span span(kName);
  Pool2dOptions options = given;
  const Shape shape = check_pool2d(kName, x, options);
  const MaxPool2dForward forward = max_pool2d_forward_cpu(x, shape, options);
  return record(kName, forward.output, {x},
                [options, input = InputFormat(x),
                 places = SavedTensor(forward.places, kName)](BackwardContext& context) {
                  const Tensor x_grad = input.empty();
                  max_pool2d_backward_cpu(context.grad(), places.get(), options, x_grad);
                  context.add(0, x_grad);
                });
}

}  // namespace lockstep::ops

#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d.h"

#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "adaptive_avg_pool2d";

}  // namespace

Tensor adaptive_avg_pool2d(const Tensor& x, const ImageSize& size) {
  const profile::Span span(kName);
  check_float(kName, x);
  check_cpu(kName, x);
  check(x.ndim() == 4, kName, "expected input [n, c, h, w], got ", x.shape());
  check(x.count() > 0, kName, "empty batch or image: input ", x.shape());
  check(size.rows >= 1 && size.columns >= 1, kName, "expected at least one row and column, got size [",
        size.rows, ", ", size.columns, "] for input ", x.shape());
  if (x.dim(2) == size.rows && x.dim(3) == size.columns) return x;
  return record(kName, adaptive_avg_pool2d_forward_cpu(x.detach(), size), {x},
                [input = InputFormat(x)](BackwardContext& context) {
                  context.add(0, adaptive_avg_pool2d_backward_cpu(context.grad(), input));
                });
}

}  // namespace lockstep::ops

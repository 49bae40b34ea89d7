#include "ops/group_norm/group_norm.h"

#include "ops/group_norm/group_norm_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "group_norm";

void check_operands(const Tensor& x, const Tensor& gamma, const Tensor& beta, int64_t groups) {
  check_float(kName, x);
  check_cpu(kName, x);
  check(x.ndim() >= 2, kName, "expected input [n, c, ...], got ", x.shape());
  check(x.count() > 0, kName, "empty batch or image: input ", x.shape());
  check(groups >= 1 && x.dim(1) % groups == 0, kName, "expected groups that divide the channels of input ",
        x.shape(), ", got ", groups);
  check(x.count() > x.dim(0) * groups, kName, "a group with one value has no variance: input ", x.shape(),
        ", groups ", groups);
  for (const Tensor& term : {gamma, beta}) {
    check_f32(kName, term);
    check_cpu(kName, term);
    check(term.shape() == Shape{x.dim(1)}, kName, "expected gamma and beta [", x.dim(1), "] for input ",
          x.shape(), ", got gamma ", gamma.shape(), ", beta ", beta.shape());
  }
}

}  // namespace

Tensor group_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const GroupNormOptions& options) {
  const profile::Span span(kName);
  check_operands(x, gamma, beta, options.groups);
  const Tensor input = plain_contiguous(x);
  const Tensor scale = plain_contiguous(gamma);
  const GroupNormForward forward = group_norm_forward_cpu(input, scale, plain_contiguous(beta), options);
  return record(kName, forward.output, {x, gamma, beta},
                [saved_x = SavedTensor(input, kName), saved_gamma = SavedTensor(scale, kName),
                 mean = forward.mean, inverse = forward.inverse](BackwardContext& context) {
                  const GroupNormSaved saved{saved_x.get(), saved_gamma.get(), mean, inverse};
                  const GroupNormGradients gradients{empty_like(saved.x), context.destination(1),
                                                     context.destination(2)};
                  group_norm_backward_cpu(saved, plain_contiguous(context.grad()), gradients);
                  if (context.needs(0)) context.add(0, gradients.x);
                  if (context.needs(1)) context.add(1, gradients.gamma);
                  if (context.needs(2)) context.add(2, gradients.beta);
                });
}

}  // namespace lockstep::ops

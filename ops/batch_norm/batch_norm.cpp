#include "ops/batch_norm/batch_norm.h"

#include <optional>

#include "ops/batch_norm/batch_norm_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "batch_norm";

void check_operands(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  check_f32(kName, x);
  check_cpu(kName, x);
  check(x.ndim() == 4 || x.ndim() == 2, kName, "expected input [n, c, h, w] or [n, c], got ", x.shape());
  check(x.count() > 0, kName, "empty batch or image: input ", x.shape());
  for (const Tensor& term : {gamma, beta}) {
    check_f32(kName, term);
    check_cpu(kName, term);
    check(term.shape() == Shape{x.dim(1)}, kName, "expected gamma and beta [", x.dim(1), "] for input ",
          x.shape(), ", got gamma ", gamma.shape(), ", beta ", beta.shape());
  }
}

void check_residual(const Tensor& x, const Tensor& residual) {
  if (!residual.defined()) return;
  check_f32(kName, residual);
  check_cpu(kName, residual);
  check(residual.shape() == x.shape(), kName, "expected a residual of the shape of input ", x.shape(),
        ", got ", residual.shape());
}

Tensor normalize(const BatchNormInputs& inputs, const Tensor& beta, BatchNormMode mode, const Tensor& x,
                 const Tensor& residual) {
  const bool relu_of_sum = residual.defined() && mode.options.fuse_relu;
  if (residual.defined()) mode.options.fuse_relu = false;  // it comes after the sum
  const BatchNormForward forward = batch_norm_forward_cpu(inputs, beta, mode);
  std::optional<SavedTensor> sum;
  if (residual.defined()) {
    add_residual_cpu(residual.detach(), relu_of_sum ? Sum::kPositivePart : Sum::kPlain, forward.output);
    if (relu_of_sum) sum.emplace(forward.output, kName);
  }
  return record(
      kName, forward.output, {x, inputs.gamma, beta, residual},
      [mode, sum, positive = forward.positive, saved_x = SavedTensor(inputs.x, kName),
       saved_gamma = SavedTensor(inputs.gamma, kName), saved_mean = SavedTensor(inputs.mean, kName),
       saved_variance = SavedTensor(inputs.variance, kName)](BackwardContext& context) {
        const Tensor grad = sum ? positive_part_gradient_cpu(context.grad(), sum->get()) : context.grad();
        if (context.needs(3)) context.add(3, grad);
        const BatchNormInputs saved{saved_x.get(), saved_gamma.get(), saved_mean.get(), saved_variance.get()};
        const BatchNormGradients gradients{empty_like(saved.x), context.destination(1),
                                           context.destination(2)};
        batch_norm_backward_cpu(saved, grad, positive, mode, gradients);
        if (context.needs(0)) context.add(0, gradients.x);
        if (context.needs(1)) context.add(1, gradients.gamma);
        if (context.needs(2)) context.add(2, gradients.beta);
      });
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const BatchNormOptions& options, const Tensor& residual) {
  check_operands(x, gamma, beta);
  check_residual(x, residual);
  check(x.count() > x.dim(1), kName, "a batch with one value per channel has no variance to train on: input ",
        x.shape());
  const BatchNormInputs inputs{dense(x.detach()), gamma, Tensor::empty({x.dim(1)}),
                               Tensor::empty({x.dim(1)})};
  const Tensor output = normalize(inputs, beta, {BatchStatistics::kComputed, options}, x, residual);
  return {output, inputs.mean, inputs.variance};
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                            const Tensor& variance, const BatchNormOptions& options, const Tensor& residual) {
  check_operands(x, gamma, beta);
  check_residual(x, residual);
  for (const Tensor& term : {mean, variance}) {
    check_f32(kName, term);
    check_cpu(kName, term);
  }
  check(mean.shape() == Shape{x.dim(1)} && variance.shape() == mean.shape(), kName,
        "expected mean and variance [", x.dim(1), "] for input ", x.shape(), ", got mean ", mean.shape(),
        ", variance ", variance.shape());
  const BatchNormInputs inputs{dense(x.detach()), gamma, mean.detach(), variance.detach()};
  return normalize(inputs, beta, {BatchStatistics::kGiven, options}, x, residual);
}

}  // namespace lockstep::ops

#include "ops/batch_norm/batch_norm.h"

#include <optional>

#include "ops/batch_norm/batch_norm_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "batch_norm";

void check_operands(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  check_float(kName, x);
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
  check_float(kName, residual);
  check_cpu(kName, residual);
  check(residual.shape() == x.shape(), kName, "expected a residual of the shape of input ", x.shape(),
        ", got ", residual.shape());
  check(residual.dtype() == x.dtype(), kName, "expected a residual of the type of input ", x.dtype(),
        ", got ", residual.dtype());
}

/// Where backward writes: over the gradient of the output where nobody else holds that.
BatchNormGradients backward_results(BackwardContext& context, const Tensor& grad, bool may_overwrite,
                                    bool relu_after_sum) {
  const Tensor reused = may_overwrite ? grad : empty_like(grad);
  BatchNormGradients results{.x = context.needs(3) ? empty_like(grad) : reused,
                             .gamma = context.destination(1),
                             .beta = context.destination(2)};
  if (relu_after_sum) results.masked = reused;
  return results;
}

Tensor normalize(const BatchNormInputs& inputs, BatchNormMode mode, const Tensor& x, const Tensor& residual) {
  const Tensor output = empty_like(inputs.x);
  const Tensor added =
      residual.defined() ? like_batch_norm_operand_cpu(residual.detach(), inputs.x) : residual;
  batch_norm_forward_cpu(inputs, added, mode, output);
  std::optional<SavedTensor> sum;
  if (residual.defined() && mode.options.fuse_relu) sum.emplace(output, kName);
  return record(
      kName, output, {x, inputs.gamma, inputs.beta, residual},
      [mode, sum, saved_x = SavedTensor(inputs.x, kName), saved_gamma = SavedTensor(inputs.gamma, kName),
       saved_beta = SavedTensor(inputs.beta, kName), saved_mean = SavedTensor(inputs.mean, kName),
       saved_variance = SavedTensor(inputs.variance, kName)](BackwardContext& context) {
        const BatchNormInputs saved{saved_x.get(), saved_gamma.get(), saved_beta.get(), saved_mean.get(),
                                    saved_variance.get()};
        const Tensor grad = like_batch_norm_operand_cpu(context.take_grad(), saved.x);
        const bool may_overwrite = grad.is_exclusive();
        const BatchNormGradients gradients = backward_results(context, grad, may_overwrite, sum.has_value());
        batch_norm_backward_cpu(saved, sum ? sum->get() : Tensor(), grad, mode, gradients);
        if (context.needs(0)) context.add(0, gradients.x);
        if (context.needs(1)) context.add(1, gradients.gamma);
        if (context.needs(2)) context.add(2, gradients.beta);
        if (context.needs(3)) context.add(3, sum ? gradients.masked : grad);
      });
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const BatchNormOptions& options, const Tensor& residual) {
  const profile::Span span(kName);
  check_operands(x, gamma, beta);
  check_residual(x, residual);
  check(x.count() > x.dim(1), kName, "a batch with one value per channel has no variance to train on: input ",
        x.shape());
  const BatchNormInputs inputs{batch_norm_operand_cpu(x.detach()), gamma, beta, Tensor::empty({x.dim(1)}),
                               Tensor::empty({x.dim(1)})};
  const Tensor output = normalize(inputs, {BatchStatistics::kComputed, options}, x, residual);
  return {output, inputs.mean, inputs.variance};
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                            const Tensor& variance, const BatchNormOptions& options, const Tensor& residual) {
  const profile::Span span(kName);
  check_operands(x, gamma, beta);
  check_residual(x, residual);
  for (const Tensor& term : {mean, variance}) {
    check_f32(kName, term);
    check_cpu(kName, term);
  }
  check(mean.shape() == Shape{x.dim(1)} && variance.shape() == mean.shape(), kName,
        "expected mean and variance [", x.dim(1), "] for input ", x.shape(), ", got mean ", mean.shape(),
        ", variance ", variance.shape());
  const BatchNormInputs inputs{batch_norm_operand_cpu(x.detach()), gamma, beta, mean.detach(),
                               variance.detach()};
  return normalize(inputs, {BatchStatistics::kGiven, options}, x, residual);
}

}  // namespace lockstep::ops

#include "ops/layer_norm/layer_norm.h"

#include "ops/layer_norm/layer_norm_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "layer_norm";

void check_operands(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  check_float(kName, x);
  check_cpu(kName, x);
  check(x.ndim() > 0 && x.count() > 0, kName, "expected input [.., c] that is not empty, got ", x.shape());
  for (const Tensor& term : {gamma, beta}) {
    if (!term.defined()) continue;
    check_f32(kName, term);
    check_cpu(kName, term);
    check(term.shape() == Shape{x.dim(-1)}, kName, "expected gamma and beta [", x.dim(-1), "] for input ",
          x.shape(), ", got ", term.shape());
  }
}

Tensor as_rows(const Tensor& x) {
  return plain_contiguous(x).view({-1, x.dim(-1)});
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, const LayerNormOptions& options) {
  const profile::Span span(kName);
  check_operands(x, gamma, beta);
  const Shape width{x.dim(-1)};
  const Tensor rows = as_rows(x);
  const Tensor scale = gamma.defined() ? plain_contiguous(gamma) : Tensor::full(width, 1);
  const Tensor shift = beta.defined() ? plain_contiguous(beta) : Tensor::zeros(width);
  const Tensor output = Tensor::empty(x.shape(), x.dtype());
  const LayerNormStatistics statistics{Tensor::empty({rows.dim(0)}), Tensor::empty({rows.dim(0)})};
  layer_norm_forward_cpu(rows, scale, shift, options.epsilon, output.view(rows.shape()), statistics);
  return record(kName, output, {x, gamma, beta},
                [statistics, width, epsilon = options.epsilon, saved_rows = SavedTensor(rows, kName),
                 saved_scale = SavedTensor(scale, kName)](BackwardContext& context) {
                  const Tensor& input = saved_rows.get();
                  const Tensor grad = as_rows(context.grad());
                  if (context.needs(0)) {
                    const Tensor x_grad = context.destination(0);
                    layer_norm_backward_cpu(input, saved_scale.get(), statistics, epsilon, grad,
                                            as_rows(x_grad));
                    context.add(0, x_grad);
                  }
                  if (!context.needs(1) && !context.needs(2)) return;
                  const auto destination = [&](int term) {
                    return context.needs(term) ? context.destination(term) : Tensor::empty(width);
                  };
                  const Tensor gamma_grad = destination(1);
                  const Tensor beta_grad = destination(2);
                  layer_norm_terms_backward_cpu(input, statistics, epsilon, grad, gamma_grad, beta_grad);
                  if (context.needs(1)) context.add(1, gamma_grad);
                  if (context.needs(2)) context.add(2, beta_grad);
                });
}

}  // namespace lockstep::ops

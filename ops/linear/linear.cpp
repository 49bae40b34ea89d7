#include "ops/linear/linear.h"

#include "ops/linear/linear_kernels.h"
#include "ops/matmul/matmul_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "linear";

void check_operands(const Tensor& x, const Tensor& weight, const Tensor& bias, const LinearOptions& options) {
  check_float(kName, x);
  check_f32(kName, weight);
  check_cpu(kName, x);
  check_cpu(kName, weight);
  const char* const order = options.input_major ? "[in, out]" : "[out, in]";
  check(x.ndim() >= 2 && weight.ndim() == 2, kName, "expected input [.., in] and weight ", order,
        ", got input ", x.shape(), " and weight ", weight.shape());
  check(x.count() > 0 && weight.count() > 0, kName, "empty batch or weight: input ", x.shape(), ", weight ",
        weight.shape());
  check(x.dim(-1) == weight.dim(options.input_major ? 0 : 1), kName, "features do not match: input ",
        x.shape(), ", weight ", weight.shape(), " ", order);
  if (!bias.defined()) return;
  check_f32(kName, bias);
  check_cpu(kName, bias);
  const int64_t out = weight.dim(options.input_major ? 1 : 0);
  check(bias.shape() == Shape{out}, kName, "expected bias [", out, "] for weight ", weight.shape(), " ",
        order, ", got ", bias.shape());
}

Tensor as_rows(const Tensor& x) {
  return plain_contiguous(x).view({-1, x.dim(-1)});
}

void compute_weight_gradient(const Tensor& x, const Tensor& grad, const Tensor& result,
                             const LinearOptions& options) {
  const MatmulOptions transposed{.transpose_a = true, .transpose_b = false};
  if (options.input_major) {
    matmul_cpu(x, grad, Tensor(), result, transposed);
  } else {
    matmul_cpu(grad, x, Tensor(), result, transposed);
  }
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, const LinearOptions& options) {
  profile::Span span(kName);
  check_operands(x, weight, bias, options);
  const Tensor rows = as_rows(x);
  Shape shape = x.shape();
  shape[-1] = weight.dim(options.input_major ? 1 : 0);
  const Tensor result = Tensor::empty(shape, x.dtype());
  matmul_cpu(rows, weight_as_cpu(weight, x.dtype()), bias, as_rows(result),
             {.transpose_a = false, .transpose_b = !options.input_major});
  const double operations = 2.0 * static_cast<double>(rows.dim(0) * weight.count());
  span.set_operations(operations, {operations, operations});
  return record(kName, result, {x, weight, bias},
                [options, saved_rows = SavedTensor(rows, kName),
                 saved_weight = SavedTensor(weight, kName)](BackwardContext& context) {
                  const Tensor grad = as_rows(context.grad());
                  if (context.needs(0)) {
                    const Tensor x_grad = context.destination(0);
                    matmul_cpu(grad, weight_as_cpu(saved_weight.get(), grad.dtype()), Tensor(),
                               as_rows(x_grad), {.transpose_a = false, .transpose_b = options.input_major});
                    context.add(0, x_grad);
                  }
                  if (context.needs(1)) {
                    const Tensor weight_grad = context.destination(1);
                    compute_weight_gradient(saved_rows.get(), grad, weight_grad, options);
                    context.add(1, weight_grad);
                  }
                  if (context.needs(2)) {
                    const Tensor bias_grad = context.destination(2);
                    column_sums_cpu(grad, bias_grad);
                    context.add(2, bias_grad);
                  }
                });
}

}  // namespace lockstep::ops

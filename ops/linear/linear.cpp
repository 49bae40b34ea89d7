#include "ops/linear/linear.h"

#include "ops/linear/linear_kernels.h"
#include "ops/matmul/matmul_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "linear";

void check_operands(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_f32(kName, x);
  check_f32(kName, weight);
  check_cpu(kName, x);
  check_cpu(kName, weight);
  check(x.ndim() == 2 && weight.ndim() == 2, kName, "expected input [n, in] and weight [out, in], got input ",
        x.shape(), " and weight ", weight.shape());
  check(x.count() > 0 && weight.count() > 0, kName, "empty batch or weight: input ", x.shape(), ", weight ",
        weight.shape());
  check(x.dim(1) == weight.dim(1), kName, "features do not match: input ", x.shape(), ", weight ",
        weight.shape());
  if (!bias.defined()) return;
  check_f32(kName, bias);
  check_cpu(kName, bias);
  check(bias.shape() == Shape{weight.dim(0)}, kName, "expected bias [", weight.dim(0), "] for weight ",
        weight.shape(), ", got ", bias.shape());
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_operands(x, weight, bias);
  const Tensor result = Tensor::empty({x.dim(0), weight.dim(0)});
  matmul_cpu(x, weight, bias, result, {.transpose_a = false, .transpose_b = true});
  return record(
      kName, result, {x, weight, bias},
      [saved_x = SavedTensor(x, kName), saved_weight = SavedTensor(weight, kName)](BackwardContext& context) {
        const Tensor& grad = context.grad();
        if (context.needs(0)) {
          const Tensor x_grad = context.destination(0);
          matmul_cpu(grad, saved_weight.get(), Tensor(), x_grad, {});
          context.add(0, x_grad);
        }
        if (context.needs(1)) {
          const Tensor weight_grad = context.destination(1);
          matmul_cpu(grad, saved_x.get(), Tensor(), weight_grad, {.transpose_a = true, .transpose_b = false});
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

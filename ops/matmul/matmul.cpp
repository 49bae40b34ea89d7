#include "ops/matmul/matmul.h"

#include "ops/matmul/matmul_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "matmul";

Shape result_shape(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  check_float(kName, a);
  check_float(kName, b);
  check_cpu(kName, a);
  check_cpu(kName, b);
  const auto shapes = [&] {
    return to_text(a.shape(), options.transpose_a ? " transposed" : "", " and ", b.shape(),
                   options.transpose_b ? " transposed" : "");
  };
  check((a.ndim() == 2 || a.ndim() == 3) && a.ndim() == b.ndim(), kName,
        "expected two matrices or two batches of them, got ", shapes());
  check(a.ndim() == 2 || a.dim(0) == b.dim(0), kName, "the batches differ: ", shapes());
  check(a.dim(options.transpose_a ? -2 : -1) == b.dim(options.transpose_b ? -1 : -2), kName,
        "inner extents differ: ", shapes());
  Shape shape = a.shape();
  shape[-2] = a.dim(options.transpose_a ? -1 : -2);
  shape[-1] = b.dim(options.transpose_b ? -2 : -1);
  return shape;
}

void compute(const Tensor& a, const Tensor& b, const Tensor& result, const MatmulOptions& options) {
  if (a.count() == 0 || b.count() == 0) {
    Tensor(result).fill(0);
  } else {
    matmul_cpu(a, b, Tensor(), result, options);
  }
}

/// op(a)' = grad op(b)^T, transposed once more if a is.
void compute_grad_a(const Tensor& grad, const Tensor& b, const Tensor& grad_a, const MatmulOptions& options) {
  if (options.transpose_a) {
    compute(b, grad, grad_a, {.transpose_a = options.transpose_b, .transpose_b = true});
  } else {
    compute(grad, b, grad_a, {.transpose_a = false, .transpose_b = !options.transpose_b});
  }
}

/// op(b)' = op(a)^T grad, transposed once more if b is.
void compute_grad_b(const Tensor& a, const Tensor& grad, const Tensor& grad_b, const MatmulOptions& options) {
  if (options.transpose_b) {
    compute(grad, a, grad_b, {.transpose_a = true, .transpose_b = options.transpose_a});
  } else {
    compute(a, grad, grad_b, {.transpose_a = !options.transpose_a, .transpose_b = false});
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  profile::Span span(kName);
  const DType dtype = a.dtype() == b.dtype() ? a.dtype() : DType::kBF16;
  const Tensor result = Tensor::empty(result_shape(a, b, options), dtype);
  compute(a, b, result, options);
  const double operations = 2.0 * static_cast<double>(result.count() * a.dim(options.transpose_a ? -2 : -1));
  span.set_operations(operations, {operations, operations});
  return record(
      kName, result, {a, b},
      [options, saved_a = SavedTensor(a, kName), saved_b = SavedTensor(b, kName)](BackwardContext& context) {
        if (context.needs(0)) {
          const Tensor grad_a = context.destination(0);
          compute_grad_a(context.grad(), saved_b.get(), grad_a, options);
          context.add(0, grad_a);
        }
        if (context.needs(1)) {
          const Tensor grad_b = context.destination(1);
          compute_grad_b(saved_a.get(), context.grad(), grad_b, options);
          context.add(1, grad_b);
        }
      });
}

}  // namespace lockstep::ops

#include "ops/reduce/reduce.h"

#include <array>

#include "ops/cast/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/operands.h"
#include "ops/reduce/reduce_kernels.h"
#include "ops/reshape/reshape.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// Which dimensions of a shape are reduced, and what is left.
struct Reduction {
  std::array<bool, Shape::kMaxDims> reduced{};
  Shape kept_shape;    // with extents of 1
  Shape result_shape;  // as the caller wants it
  int64_t reduced_count = 1;
};

Reduction plan_reduction(const char* operation, const Shape& shape, const ReduceOptions& options) {
  Reduction plan;
  if (options.dims.empty()) plan.reduced.fill(true);
  for (const int dim : options.dims) {
    const auto index = static_cast<size_t>(check_dim(operation, dim, shape));
    check(!plan.reduced[index], operation, "dimension ", dim, " of shape ", shape, " is given twice");
    plan.reduced[index] = true;
  }
  for (int dim = 0; dim < shape.ndim(); ++dim) {
    const bool reduced = plan.reduced[static_cast<size_t>(dim)];
    plan.kept_shape.push_back(reduced ? 1 : shape[dim]);
    if (reduced) plan.reduced_count *= shape[dim];
    if (!reduced || options.keep_dims) plan.result_shape.push_back(reduced ? 1 : shape[dim]);
  }
  return plan;
}

/// The sums in double, kept dimensions only: one pass per group of neighbouring reduced dimensions, innermost
/// first.
std::vector<double> sum_in_double(const Tensor& x, const Reduction& plan) {
  std::vector<double> sums;
  bool first_pass = true;
  cpu::ReduceExtents extents;
  const auto reduce_group = [&] {
    std::vector<double> result(static_cast<size_t>(extents.outer * extents.inner));
    if (first_pass) {
      cpu::sum_middle(x.dtype(), x.raw(), result.data(), extents);
    } else {
      cpu::sum_middle(DType::kF64, sums.data(), result.data(), extents);
    }
    first_pass = false;
    sums = std::move(result);
  };
  int dim = x.ndim();
  while (dim > 0) {
    for (; dim > 0 && !plan.reduced[static_cast<size_t>(dim - 1)]; --dim) extents.inner *= x.dim(dim - 1);
    if (dim == 0) break;
    extents.reduced = 1;
    for (; dim > 0 && plan.reduced[static_cast<size_t>(dim - 1)]; --dim) extents.reduced *= x.dim(dim - 1);
    extents.outer = 1;
    for (int outer = 0; outer < dim; ++outer) extents.outer *= x.dim(outer);
    reduce_group();
  }
  if (first_pass) reduce_group();  // a scalar
  return sums;
}

Tensor sum_over(const char* operation, const Tensor& x, const Reduction& plan, double divisor, DType dtype) {
  const std::vector<double> sums = sum_in_double(plain_contiguous(x), plan);
  Tensor result = Tensor::empty(plan.result_shape, dtype);
  cpu::divide_and_round(sums.data(), divisor, dtype, result.raw(), result.count());
  return record(operation, result, {x},
                [shape = x.shape(), kept = plan.kept_shape, divisor](BackwardContext& context) {
                  const Tensor share = scale(plain_contiguous(context.grad()), 1 / divisor);
                  const Tensor repeated = cast(share, context.dtype(0)).view(kept).expand(shape);
                  context.add(0, contiguous(repeated));
                });
}

/// max over the last dimension.
Tensor max_last(const Tensor& x) {
  const Tensor input = x.contiguous();
  Shape shape;
  for (int dim = 0; dim + 1 < x.ndim(); ++dim) shape.push_back(x.dim(dim));
  const cpu::ReduceExtents extents{.outer = shape.count(), .reduced = x.dim(-1), .inner = 1};
  Tensor result = Tensor::empty(shape, x.dtype());
  Tensor index = Tensor::empty(shape, DType::kI64);
  cpu::max_middle(x.dtype(), input.raw(), result.raw(), index.data<int64_t>(), extents);
  return record("max", result, {x}, [index, extents](BackwardContext& context) {
    Tensor gradient = context.destination(0);
    cpu::max_middle_gradient(gradient.dtype(), plain_contiguous(context.grad()).raw(), index.data<int64_t>(),
                             gradient.raw(), extents);
    context.add(0, gradient);
  });
}

}  // namespace

Tensor sum(const Tensor& x, const ReduceOptions& options) {
  const profile::Span span("sum");
  check_float("sum", x);
  check_cpu("sum", x);
  return sum_over("sum", x, plan_reduction("sum", x.shape(), options), 1, x.dtype());
}

Tensor mean(const Tensor& x, const ReduceOptions& options) {
  const profile::Span span("mean");
  check_float("mean", x);
  check_cpu("mean", x);
  const Reduction plan = plan_reduction("mean", x.shape(), options);
  check(plan.reduced_count > 0, "mean", "shape ", x.shape(), " has no elements to take the mean of");
  return sum_over("mean", x, plan, static_cast<double>(plan.reduced_count), x.dtype());
}

Tensor max(const Tensor& x, const ReduceOptions& options) {
  const profile::Span span("max");
  check_float("max", x);
  check_cpu("max", x);
  const Reduction plan = plan_reduction("max", x.shape(), options);
  check(plan.reduced_count > 0, "max", "shape ", x.shape(), " has no elements to take the greatest of");
  std::vector<int> order;
  Shape rows;
  for (int dim = 0; dim < x.ndim(); ++dim) {
    if (plan.reduced[static_cast<size_t>(dim)]) continue;
    order.push_back(dim);
    rows.push_back(x.dim(dim));
  }
  for (int dim = 0; dim < x.ndim(); ++dim) {
    if (plan.reduced[static_cast<size_t>(dim)]) order.push_back(dim);
  }
  rows.push_back(plan.reduced_count);
  return reshape(max_last(reshape(permute(x, order), rows)), plan.result_shape);
}

Tensor sum_to(const Tensor& x, const Shape& shape, DType dtype) {
  if (x.shape() == shape) return cast(x, dtype);
  const int added = x.ndim() - shape.ndim();
  ReduceOptions repeated;
  for (int dim = 0; dim < x.ndim(); ++dim) {
    const int64_t extent = dim < added ? 1 : shape[dim - added];
    check(extent == 1 || extent == x.dim(dim), "sum_to", "shape ", shape, " does not broadcast to ",
          x.shape());
    if (dim < added || extent != x.dim(dim)) repeated.dims.push_back(dim);
  }
  if (repeated.dims.empty()) return cast(reshape(x, shape), dtype);
  check_float("sum", x);
  check_cpu("sum", x);
  return reshape(sum_over("sum", x, plan_reduction("sum", x.shape(), repeated), 1, dtype), shape);
}

}  // namespace lockstep::ops

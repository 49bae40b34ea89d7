#include "ops/concat/concat.h"

#include "ops/concat/concat_kernels.h"
#include "ops/operands.h"
#include "ops/reshape/reshape.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// The shape of the result; checks that the others fit the first.
Shape concat_shape(const std::vector<Tensor>& parts, int dim) {
  Shape result = parts[0].shape();
  for (const Tensor& part : parts) check_cpu("concat", part);
  for (size_t i = 1; i < parts.size(); ++i) {
    Shape shape = parts[i].shape();
    const bool fits = shape.ndim() == result.ndim();
    if (fits) shape[dim] = parts[0].dim(dim);
    check(fits && shape == parts[0].shape() && parts[i].dtype() == parts[0].dtype(), "concat", "operand ", i,
          " is ", parts[i].dtype(), " ", parts[i].shape(), ": expected ", parts[0].dtype(),
          " and a shape as ", parts[0].shape(), " but for dimension ", dim);
    result[dim] += parts[i].dim(dim);
  }
  return result;
}

}  // namespace

Tensor concat(const std::vector<Tensor>& parts, int dim) {
  const profile::Span span("concat");
  check(!parts.empty(), "concat", "expected at least one operand");
  for (const Tensor& part : parts) check(part.defined(), "concat", "an operand is undefined");
  const int d = check_dim("concat", dim, parts[0].shape());
  const Shape shape = concat_shape(parts, d);
  Tensor result = Tensor::empty(shape, parts[0].dtype());

  const int64_t rows = count_between(shape, 0, d);
  const auto row_bytes = [rows](const Tensor& x) {
    return rows == 0 ? 0 : static_cast<int64_t>(x.nbytes()) / rows;
  };
  auto* target = static_cast<std::byte*>(result.raw());
  for (const Tensor& part : parts) {
    const Tensor source = plain_contiguous(part);
    const int64_t bytes = row_bytes(source);
    cpu::place_rows(source.raw(), target, {.rows = rows, .row_bytes = bytes, .pitch = row_bytes(result)});
    target += bytes;
  }
  std::vector<int64_t> extents;
  for (const Tensor& part : parts) extents.push_back(part.dim(d));
  return record("concat", result, parts, [d, extents](BackwardContext& context) {
    const Tensor g = plain(context.grad());
    int64_t start = 0;
    for (size_t i = 0; i < extents.size(); start += extents[i], ++i) {
      const int input = static_cast<int>(i);
      if (context.needs(input)) context.add(input, contiguous(g.narrow(d, start, extents[i])));
    }
  });
}

Tensor stack(const std::vector<Tensor>& parts, int dim) {
  check(!parts.empty(), "stack", "expected at least one operand");
  std::vector<Tensor> widened;
  for (const Tensor& part : parts) {
    check(part.defined(), "stack", "an operand is undefined");
    check(part.shape() == parts[0].shape(), "stack", "expected operands of one shape, got ", parts[0].shape(),
          " and ", part.shape());
    const int d = dim < 0 ? dim + part.ndim() + 1 : dim;
    check(d >= 0 && d <= part.ndim(), "stack", "there is no place ", dim, " for a new dimension in shape ",
          part.shape());
    Shape shape;
    for (int i = 0; i <= part.ndim(); ++i) {
      if (i == d) shape.push_back(1);
      if (i < part.ndim()) shape.push_back(part.dim(i));
    }
    widened.push_back(reshape(part, shape));
  }
  return concat(widened, dim);
}

}  // namespace lockstep::ops

#include "ops/reshape/reshape.h"

#include <numeric>
#include <utility>

#include "ops/operands.h"
#include "ops/reshape/reshape_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {

Tensor contiguous(const Tensor& x) {
  if (x.is_contiguous()) return x;
  const profile::Span span("contiguous");
  const Tensor input = plain(x);
  if (input.is_contiguous()) return input;
  check_cpu("contiguous", x);
  Tensor result = Tensor::empty(x.shape(), x.dtype());
  cpu::pack(input.raw(), input.shape(), input.strides(), size_of(x.dtype()), result.raw());
  return record("contiguous", result, {input},
                [](BackwardContext& context) { context.add(0, context.grad()); });
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const profile::Span span("reshape");
  const Tensor input = contiguous(x);
  return record("reshape", input.view(shape), {input}, [shape = x.shape()](BackwardContext& context) {
    context.add(0, contiguous(context.grad()).view(shape));
  });
}

Tensor flatten(const Tensor& x, int first_dim) {
  check(first_dim >= 0 && first_dim < x.ndim(), "flatten", "dimension ", first_dim, " is outside shape ",
        x.shape());
  Shape shape;
  int64_t merged = 1;
  for (int dim = 0; dim < x.ndim(); ++dim) {
    if (dim < first_dim) {
      shape.push_back(x.dim(dim));
    } else {
      merged *= x.dim(dim);
    }
  }
  shape.push_back(merged);
  return reshape(x, shape);
}

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  const profile::Span span("permute");
  const Tensor input = plain(x);
  return record("permute", input.permute(order), {input}, [order](BackwardContext& context) {
    std::vector<int> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
    context.add(0, contiguous(permute(context.grad(), inverse)));
  });
}

Tensor transpose(const Tensor& x, int dim0, int dim1) {
  std::vector<int> order(static_cast<size_t>(x.ndim()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(check_dim("transpose", dim0, x.shape()))],
            order[static_cast<size_t>(check_dim("transpose", dim1, x.shape()))]);
  return permute(x, order);
}

}  // namespace lockstep::ops

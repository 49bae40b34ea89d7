#include "ops/indexing/indexing.h"

#include <functional>

#include "ops/cast/cast.h"
#include "ops/indexing/indexing_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// Zeros that `add` adds the gradient (f32, contiguous) to, in the gradient's own type.
void add_gradient(BackwardContext& context, const std::function<void(const float* g, float* result)>& add) {
  const DType dtype = context.dtype(0);
  const Tensor g = plain_contiguous(cast(context.grad(), DType::kF32));
  Tensor sums = dtype == DType::kF32 ? context.destination(0) : Tensor::empty(context.shape(0));
  sums.fill(0);
  add(g.data<float>(), sums.data<float>());
  context.add(0, cast(sums, dtype));
}

}  // namespace

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  const profile::Span span("gather");
  check(x.defined() && index.defined(), "gather", "an operand is undefined");
  check_cpu("gather", x);
  const cpu::GatherShape shape{x.shape(), index.shape(), check_dim("gather", dim, x.shape())};
  bool fits = index.ndim() == x.ndim();
  for (int d = 0; fits && d < x.ndim(); ++d) fits = d == shape.dim || index.dim(d) <= x.dim(d);
  check(fits, "gather", "index of shape ", index.shape(), " does not fit ", x.shape(), " along dimension ",
        dim);
  const Tensor positions = check_indices("gather", index, x.dim(shape.dim));
  Tensor result = Tensor::empty(index.shape(), x.dtype());
  cpu::gather(plain_contiguous(x).raw(), positions.data<int64_t>(), shape, size_of(x.dtype()), result.raw());
  return record("gather", result, {x},
                [saved = SavedTensor(positions, "gather"), shape](BackwardContext& context) {
                  add_gradient(context, [&](const float* g, float* gradient) {
                    cpu::scatter_add(g, saved.get().data<int64_t>(), shape, gradient);
                  });
                });
}

Tensor index_select(const Tensor& x, int dim, const Tensor& index) {
  const profile::Span span("index_select");
  check(x.defined() && index.defined(), "index_select", "an operand is undefined");
  check_cpu("index_select", x);
  const int d = check_dim("index_select", dim, x.shape());
  check(index.ndim() == 1, "index_select", "expected indices [n], got shape ", index.shape());
  const Tensor rows = check_indices("index_select", index, x.dim(d));
  Shape shape = x.shape();
  shape[d] = rows.count();
  cpu::SelectExtents extents{.outer = count_between(shape, 0, d),
                             .extent = x.dim(d),
                             .chosen = rows.count(),
                             .inner = count_between(shape, d + 1, shape.ndim())};
  Tensor result = Tensor::empty(shape, x.dtype());
  cpu::SelectExtents bytes = extents;
  bytes.inner *= static_cast<int64_t>(size_of(x.dtype()));
  cpu::select_rows(plain_contiguous(x).raw(), rows.data<int64_t>(), bytes, result.raw());
  return record("index_select", result, {x},
                [saved = SavedTensor(rows, "index_select"), extents](BackwardContext& context) {
                  add_gradient(context, [&](const float* g, float* gradient) {
                    cpu::add_rows(g, saved.get().data<int64_t>(), extents, gradient);
                  });
                });
}

Tensor one_hot(const Tensor& index, int64_t classes) {
  const profile::Span span("one_hot");
  check(classes > 0, "one_hot", "expected a positive number of classes, got ", classes);
  const Tensor positions = check_indices("one_hot", index, classes);
  Shape shape = index.shape();
  shape.push_back(classes);
  Tensor result = Tensor::zeros(shape);
  for (int64_t i = 0; i < positions.count(); ++i) {
    result.data<float>()[i * classes + positions.data<int64_t>()[i]] = 1;
  }
  return result;
}

}  // namespace lockstep::ops

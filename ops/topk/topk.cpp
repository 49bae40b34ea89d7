#include "ops/topk/topk.h"

#include "ops/indexing/indexing_kernels.h"
#include "ops/operands.h"
#include "ops/topk/topk_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// `dim` as the middle of three dimensions.
cpu::ReduceExtents extents_around(const Shape& shape, int dim) {
  return {.outer = count_between(shape, 0, dim),
          .reduced = shape[dim],
          .inner = count_between(shape, dim + 1, shape.ndim())};
}

}  // namespace

Tensor argmax(const Tensor& given, int dim) {
  const profile::Span span("argmax");
  const Tensor x = in_f32("argmax", given);
  check_cpu("argmax", x);
  const int d = check_dim("argmax", dim, x.shape());
  check(x.dim(d) > 0, "argmax", "dimension ", dim, " of shape ", x.shape(), " has no elements");
  Shape shape;
  for (int i = 0; i < x.ndim(); ++i) {
    if (i != d) shape.push_back(x.dim(i));
  }
  Tensor greatest = Tensor::empty(shape);
  Tensor index = Tensor::empty(shape, DType::kI64);
  cpu::max_middle(DType::kF32, plain_contiguous(x).raw(), greatest.raw(), index.data<int64_t>(),
                  extents_around(x.shape(), d));
  return index;
}

TopkResult topk(const Tensor& given, int64_t k, int dim) {
  const profile::Span span("topk");
  const Tensor x = in_f32("topk", given);
  check_cpu("topk", x);
  const int d = check_dim("topk", dim, x.shape());
  check(k >= 0 && k <= x.dim(d), "topk", "cannot take ", k, " elements of dimension ", dim, " of shape ",
        x.shape());
  Shape shape = x.shape();
  shape[d] = k;
  TopkResult result{Tensor::empty(shape), Tensor::empty(shape, DType::kI64)};
  cpu::topk(plain_contiguous(x).data<float>(), k, extents_around(x.shape(), d), result.values.data<float>(),
            result.indices.data<int64_t>());
  const cpu::GatherShape places{.whole = x.shape(), .picked = shape, .dim = d};
  result.values =
      record("topk", result.values, {x},
             [saved = SavedTensor(result.indices, "topk"), places](BackwardContext& context) {
               const Tensor g = plain_contiguous(context.grad());
               Tensor gradient = context.destination(0);
               gradient.fill(0);
               cpu::scatter_add(g.data<float>(), saved.get().data<int64_t>(), places, gradient.data<float>());
               context.add(0, gradient);
             });
  return result;
}

}  // namespace lockstep::ops

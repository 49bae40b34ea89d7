#include "ops/slice/slice.h"

#include <algorithm>

#include "ops/operands.h"
#include "ops/reshape/reshape.h"
#include "ops/reshape/reshape_kernels.h"
#include "ops/slice/slice_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

/// A view of row-major memory of some larger shape.
struct Part {
  Shape shape;
  Shape strides;
  int64_t offset = 0;
};

std::byte* at_element(const Tensor& x, int64_t offset) {
  return static_cast<std::byte*>(x.raw()) + offset * static_cast<int64_t>(size_of(x.dtype()));
}

/// Writes all of `whole`: zeros around the elements of `part`, which lies at `place`.
void embed(const Tensor& part, const Part& place, Tensor& whole) {
  whole.fill(0);
  cpu::unpack(plain_contiguous(part).raw(), place.shape, place.strides, size_of(whole.dtype()),
              at_element(whole, place.offset));
}

}  // namespace

Tensor slice(const Tensor& x, int dim, const SliceRange& range) {
  const profile::Span span("slice");
  check(x.defined(), "slice", "the operand is undefined");
  const int d = check_dim("slice", dim, x.shape());
  const int64_t extent = x.dim(d);
  const auto index_of = [extent](int64_t bound) {
    if (bound == SliceRange::kEnd) return extent;
    return bound < 0 ? bound + extent : bound;
  };
  const int64_t start = index_of(range.start);
  const int64_t stop = index_of(range.stop);
  check(range.step > 0, "slice", "expected a positive step, got ", range.step);
  check(0 <= start && start <= stop && stop <= extent, "slice", "[", range.start, ", ",
        range.stop == SliceRange::kEnd ? extent : range.stop, ") is outside dimension ", dim, " of shape ",
        x.shape());

  const Tensor input = plain(x);
  const int64_t step = std::min(range.step, std::max<int64_t>(extent, 2));  // more takes the same elements
  const int64_t length = (stop - start + step - 1) / step;
  Part place{.shape = x.shape(), .strides = row_major_strides(x.shape())};
  place.shape[d] = length;
  place.offset = start * place.strides[d];
  place.strides[d] *= step;

  Tensor result = input.detach();
  if (step == 1) {
    result = result.narrow(d, start, length);
  } else {
    check_cpu("slice", x);
    Shape strides = input.strides();
    const std::byte* first = at_element(input, start * strides[d]);
    strides[d] *= step;
    result = Tensor::empty(place.shape, x.dtype());
    cpu::pack(first, place.shape, strides, size_of(x.dtype()), result.raw());
  }
  return record("slice", result, {input}, [place](BackwardContext& context) {
    const Tensor& g = context.grad();
    check_cpu("slice", g);
    Tensor gradient = context.destination(0);
    embed(g, place, gradient);
    context.add(0, gradient);
  });
}

Tensor pad(const Tensor& x, const std::vector<PadSides>& sides, double value) {
  const profile::Span span("pad");
  check(x.defined(), "pad", "the operand is undefined");
  check_cpu("pad", x);
  check(static_cast<int>(sides.size()) == x.ndim(), "pad", "expected the sides of ", x.ndim(),
        " dimensions for shape ", x.shape(), ", got ", sides.size());
  Shape shape = x.shape();
  for (int dim = 0; dim < x.ndim(); ++dim) {
    const auto [before, after] = sides[static_cast<size_t>(dim)];
    check(before >= 0 && after >= 0, "pad", "dimension ", dim, " of shape ", x.shape(), " cannot grow by ",
          before, " and ", after);
    shape[dim] += before + after;
  }
  Tensor result = Tensor::full(shape, value, x.dtype());
  const Shape strides = result.strides();
  int64_t offset = 0;
  for (int dim = 0; dim < x.ndim(); ++dim) offset += sides[static_cast<size_t>(dim)].before * strides[dim];
  cpu::unpack(plain_contiguous(x).raw(), x.shape(), strides, size_of(x.dtype()), at_element(result, offset));
  return record("pad", result, {x}, [sides, shape = x.shape()](BackwardContext& context) {
    Tensor inside = plain(context.grad());
    for (int dim = 0; dim < shape.ndim(); ++dim) {
      inside = inside.narrow(dim, sides[static_cast<size_t>(dim)].before, shape[dim]);
    }
    context.add(0, contiguous(inside));
  });
}

}  // namespace lockstep::ops

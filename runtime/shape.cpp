#include "runtime/shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace lockstep {

Shape::Shape(std::span<const int64_t> extents) : ndim_(static_cast<int>(extents.size())) {
  check(extents.size() <= kMaxDims, "shape", "at most ", kMaxDims, " dimensions, got ", extents.size());
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

int64_t Shape::count() const {
  int64_t product = 1;
  for (const int64_t extent : *this) {
    check(!__builtin_mul_overflow(product, extent, &product), "shape", *this, " has more elements than 2^63");
  }
  return product;
}

void Shape::push_back(int64_t extent) {
  check(ndim_ < kMaxDims, "shape", "at most ", kMaxDims, " dimensions; cannot append ", extent, " to ",
        *this);
  extents_[static_cast<size_t>(ndim_++)] = extent;
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int Shape::index_of(int dim) const {
  check(-ndim_ <= dim && dim < ndim_, "shape", "dimension ", dim, " of ", *this,
        " is out of range: expected [", -ndim_, ", ", ndim_, ")");
  return dim < 0 ? dim + ndim_ : dim;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  const char* separator = "";
  for (const int64_t extent : shape) {
    out << separator << extent;
    separator = ", ";
  }
  return out << ']';
}

Shape row_major_strides(const Shape& shape) {
  Shape strides = shape;
  int64_t stride = 1;
  for (int dim = shape.ndim() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    check(!__builtin_mul_overflow(stride, shape[dim], &stride) || dim == 0, "shape", shape,
          " has strides of more than 2^63");
  }
  return strides;
}

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
  const Shape& longer = a.ndim() >= b.ndim() ? a : b;
  const Shape& shorter = a.ndim() >= b.ndim() ? b : a;
  Shape result = longer;
  for (int dim = -1; dim >= -shorter.ndim(); --dim) {
    const bool stretch = longer[dim] == 1;
    check(stretch || shorter[dim] == 1 || shorter[dim] == longer[dim], operation, "shapes ", a, " and ", b,
          " do not broadcast: ", a[dim], " and ", b[dim], " differ and neither is 1");
    if (stretch) result[dim] = shorter[dim];
  }
  return result;
}

}  // namespace lockstep

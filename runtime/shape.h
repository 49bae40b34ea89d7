// The extents of a tensor, outermost first.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

namespace lockstep {

/// Up to kMaxDims extents, stored inline. Also used for strides (in elements).
class Shape {
 public:
  static constexpr int kMaxDims = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const int64_t> extents);

  int ndim() const { return ndim_; }
  /// Counts from the end when negative; throws InvalidArgument when out of range.
  int64_t operator[](int dim) const { return extents_[static_cast<size_t>(index_of(dim))]; }
  int64_t& operator[](int dim) { return extents_[static_cast<size_t>(index_of(dim))]; }
  int64_t count() const;  ///< product of the extents; 1 for a scalar
  void push_back(int64_t extent);

  const int64_t* begin() const { return extents_.data(); }
  const int64_t* end() const { return extents_.data() + ndim_; }
  bool operator==(const Shape& other) const;

 private:
  int index_of(int dim) const;
  std::array<int64_t, kMaxDims> extents_{};
  int ndim_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);  ///< "[32, 1, 28, 28]"

Shape row_major_strides(const Shape& shape);

/// The common shape of two operands under NumPy's broadcasting rules; throws InvalidArgument naming both
/// shapes.
Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

}  // namespace lockstep

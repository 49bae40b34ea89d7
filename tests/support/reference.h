// Plain arrays in double precision: what operations are checked against. Written to be obviously right, not
// fast.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace lockstep::test {

/// Values in row-major order.
struct Array {
  Shape shape;
  std::vector<double> values;

  int64_t count() const { return static_cast<int64_t>(values.size()); }
  double& operator[](int64_t position) { return values.at(static_cast<size_t>(position)); }
  double operator[](int64_t position) const { return values.at(static_cast<size_t>(position)); }
  /// By index, one number per dimension.
  double& at(const std::vector<int64_t>& index) { return (*this)[position_of(index)]; }
  double at(const std::vector<int64_t>& index) const { return (*this)[position_of(index)]; }

 private:
  int64_t position_of(const std::vector<int64_t>& index) const;
};

Array full(const Shape& shape, double value);
/// Uniform in [low, high), each value exactly representable in f32; equal for equal seeds.
Array random_array(const Shape& shape, uint64_t seed, double low = -1, double high = 1);

Array to_array(const Tensor& tensor);                             ///< any layout and element type
Tensor to_tensor(const Array& array, DType dtype = DType::kF32);  ///< contiguous
/// The same values and shape in memory whose dimensions lie in reverse order: not contiguous from two
/// dimensions on.
Tensor to_strided_tensor(const Array& array);

/// Calls visit(index) for every index of `shape` in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const std::vector<int64_t>&)>& visit);

Array map(const Array& x, const std::function<double(double)>& function);
/// Element by element under NumPy's broadcasting rules.
Array zip(const Array& a, const Array& b, const std::function<double(double, double)>& function);

}  // namespace lockstep::test

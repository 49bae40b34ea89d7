#include "tests/support/reference.h"

#include <algorithm>
#include <type_traits>

#include "runtime/autograd.h"
#include "runtime/rng.h"

namespace lockstep::test {
namespace {

/// The index in an operand that stands at `index` of the broadcast result.
std::vector<int64_t> operand_index(const std::vector<int64_t>& index, const Shape& operand) {
  const auto skipped = index.size() - static_cast<size_t>(operand.ndim());
  std::vector<int64_t> result(index.begin() + static_cast<int64_t>(skipped), index.end());
  for (size_t dim = 0; dim < result.size(); ++dim) {
    if (operand[static_cast<int>(dim)] == 1) result[dim] = 0;
  }
  return result;
}

template <class T>
constexpr bool kIsStorageType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class T>
double to_double(T value) {
  if constexpr (kIsStorageType<T>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

template <class T>
T from_double(double value) {
  if constexpr (kIsStorageType<T>)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

}  // namespace

int64_t Array::position_of(const std::vector<int64_t>& index) const {
  ensure(static_cast<int>(index.size()) == shape.ndim(), "reference", "index of ", index.size(),
         " dimensions into ", shape);
  int64_t position = 0;
  for (int dim = 0; dim < shape.ndim(); ++dim) {
    const int64_t i = index[static_cast<size_t>(dim)];
    ensure(i >= 0 && i < shape[dim], "reference", "index ", i, " into dimension ", dim, " of ", shape);
    position = position * shape[dim] + i;
  }
  return position;
}

Array full(const Shape& shape, double value) {
  return {shape, std::vector<double>(static_cast<size_t>(shape.count()), value)};
}

Array random_array(const Shape& shape, uint64_t seed, double low, double high) {
  const RandomStream stream(seed, Purpose::kTest, 0, 0);
  Array array = full(shape, 0);
  for (int64_t i = 0; i < array.count(); ++i) {
    const double unit = stream.uniform(static_cast<uint64_t>(i));
    array[i] = static_cast<float>(low + (high - low) * unit);
  }
  return array;
}

Array to_array(const Tensor& tensor) {
  return visit_dtype(tensor.dtype(), [&]<class T>(T) {
    Array array = full(tensor.shape(), 0);
    std::ranges::transform(tensor.to_vector<T>(), array.values.begin(), to_double<T>);
    return array;
  });
}

Tensor to_tensor(const Array& array, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(T) {
    std::vector<T> values(array.values.size());
    std::ranges::transform(array.values, values.begin(), from_double<T>);
    return Tensor::from(values, array.shape);
  });
}

Tensor to_strided_tensor(const Array& array) {
  std::vector<int> reversed;
  for (int dim = array.shape.ndim() - 1; dim >= 0; --dim) reversed.push_back(dim);
  return to_tensor(array).permute(reversed).clone().permute(reversed);
}

void for_each_index(const Shape& shape, const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> index(static_cast<size_t>(shape.ndim()), 0);
  for (int64_t position = 0; position < shape.count(); ++position) {
    int64_t rest = position;
    for (int dim = shape.ndim() - 1; dim >= 0; --dim) {
      index[static_cast<size_t>(dim)] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(index);
  }
}

Array map(const Array& x, const std::function<double(double)>& function) {
  Array result = x;
  std::transform(x.values.begin(), x.values.end(), result.values.begin(), function);
  return result;
}

Array zip(const Array& a, const Array& b, const std::function<double(double, double)>& function) {
  Array result = full(broadcast_shapes("reference", a.shape, b.shape), 0);
  for_each_index(result.shape, [&](const std::vector<int64_t>& index) {
    result.at(index) = function(a.at(operand_index(index, a.shape)), b.at(operand_index(index, b.shape)));
  });
  return result;
}

}  // namespace lockstep::test

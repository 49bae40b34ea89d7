// Exact inputs and expected results for collectives, the same for every transport.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "runtime/dtype.h"

namespace lockstep::comm::test {

inline constexpr DType kAllDTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                                       DType::kI64, DType::kI32, DType::kU8};

/// The names in the table of algorithms, so that a new row is covered at once.
std::vector<std::string> algorithm_list(bool tree_order_only = false);

/// Rank `rank`'s element i: a small integer, so that every sum over up to 16 ranks is exact in every dtype.
inline int element(int rank, int64_t i) {
  return static_cast<int>((i * 5 + rank * 3) % 13);
}

/// Memory of a communicator for `count` elements, with guard elements on both sides, which no collective may
/// touch.
template <class T>
class Guarded {
 public:
  Guarded(Communicator& comm, int64_t count)
      : storage_(comm.allocate(static_cast<size_t>(count + 2) * sizeof(T))),
        elements_(reinterpret_cast<T*>(storage_->data()), static_cast<size_t>(count + 2)) {
    for (T& element : elements_) element = T(kGuard);
  }
  template <class Function>
  Guarded(Communicator& comm, int64_t count, const Function& value) : Guarded(comm, count) {
    for (int64_t i = 0; i < count; ++i) (*this)[i] = T(static_cast<float>(value(i)));
  }

  T& operator[](int64_t i) { return elements_[static_cast<size_t>(i + 1)]; }
  int64_t count() const { return static_cast<int64_t>(elements_.size()) - 2; }
  Buffer buffer() { return {elements_.data() + 1, count(), DTypeOf<T>::value}; }
  bool guards_intact() const { return is_guard(elements_.front()) && is_guard(elements_.back()); }

 private:
  static constexpr float kGuard = 77;
  static bool is_guard(T value) { return static_cast<float>(value) == kGuard; }
  std::shared_ptr<Storage> storage_;
  std::span<T> elements_;
};

template <class T>
int64_t as_integer(T value) {
  return static_cast<int64_t>(static_cast<double>(static_cast<float>(value)));
}

/// The reduction of element(r, i) over all ranks.
int64_t reduced(ReduceOp op, int ranks, int64_t i);

/// Each runs one collective and returns "" or what is wrong, naming the first wrong element.
std::string check_all_reduce(Communicator& comm, DType dtype, ReduceOp op, int64_t count,
                             Codec codec = Codec::kNone);
std::string check_reduce_scatter(Communicator& comm, DType dtype, ReduceOp op, int64_t count);
std::string check_all_gather(Communicator& comm, DType dtype, int64_t count);
std::string check_broadcast(Communicator& comm, DType dtype, int root, int64_t count);
std::string check_tree_sum(Communicator& comm, DType dtype, int leaves, int64_t count,
                           Codec codec = Codec::kNone);
/// All of the above, for all dtypes, operations and the counts around the number of ranks.
std::string check_everything(Communicator& comm);
/// Sums with every codec, for counts around those of blocks.
std::string check_codecs(Communicator& comm);

/// Leaf t's element i: magnitudes so different that every order of summation gives other bits.
float uneven(int leaf, int64_t i);

/// The sum of f(leaf) for leaves [first, last) of `leaves` leaves, in tree order; leaves from `present` on
/// are absent.
template <class Value>
float tree_value(int first, int last, int present, const Value& leaf_value) {
  if (last - first == 1) return leaf_value(first);
  const int middle = first + (last - first) / 2;
  const float left = tree_value(first, middle, present, leaf_value);
  return middle >= present ? left : left + tree_value(middle, last, present, leaf_value);
}

/// tree_sum of uneven(), every operand and partial sum rounded: this rank's result.
std::vector<float> sum_uneven(Communicator& comm, int leaves, int64_t count, Codec codec = Codec::kNone);
/// all_reduce of uneven(rank), rounded: this rank's result.
std::vector<float> all_reduce_uneven(Communicator& comm, int64_t count, Codec codec = Codec::kNone);

}  // namespace lockstep::comm::test

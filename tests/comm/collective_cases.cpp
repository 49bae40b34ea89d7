#include "tests/comm/collective_cases.h"

#include <algorithm>

#include "comm/algorithms/table.h"
#include "comm/codecs/rounding.h"
#include "comm/codecs/table.h"
#include "runtime/error.h"

namespace lockstep::comm::test {
namespace {

/// f32 elements in memory of a communicator.
struct Memory {
  Memory(Communicator& comm, int64_t elements_count)
      : storage(comm.allocate(static_cast<size_t>(elements_count) * sizeof(float))),
        elements(reinterpret_cast<float*>(storage->data())),
        count(elements_count) {}
  Buffer buffer() const { return {elements, count, DType::kF32}; }
  std::vector<float> values() const { return {elements, elements + count}; }

  std::shared_ptr<Storage> storage;
  float* elements;
  int64_t count;
};

template <class T, class Expected>
std::string compare(Guarded<T>& actual, Range range, const std::string& what, const Expected& expected) {
  if (!actual.guards_intact()) return what + " wrote beyond its memory; ";
  for (int64_t i = range.begin; i < range.end; ++i) {
    if (as_integer(actual[i]) != expected(i)) {
      return to_text(what, " of ", actual.count(), " ", DTypeOf<T>::value, ": element ", i, ": expected ",
                     expected(i), ", got ", as_integer(actual[i]), "; ");
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> algorithm_list(bool tree_order_only) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.tree_order || !tree_order_only) names.emplace_back(algorithm.name);
  }
  return names;
}

int64_t reduced(ReduceOp op, int ranks, int64_t i) {
  int64_t value = element(0, i);
  for (int rank = 1; rank < ranks; ++rank) {
    const int64_t other = element(rank, i);
    value = op == ReduceOp::kSum   ? value + other
            : op == ReduceOp::kMax ? std::max(value, other)
                                   : std::min(value, other);
  }
  return value;
}

std::string check_all_reduce(Communicator& comm, DType dtype, ReduceOp op, int64_t count, Codec codec) {
  return visit_dtype(dtype, [&](auto zero) {
    Guarded<decltype(zero)> data(comm, count, [&](int64_t i) { return element(comm.rank(), i); });
    comm.all_reduce(data.buffer(), op, {.codec = codec}).wait();
    return compare(data, {0, count}, to_text("all_reduce ", name_of(op), ", codec ", name_of(codec)),
                   [&](int64_t i) { return reduced(op, comm.size(), i); });
  });
}

std::string check_reduce_scatter(Communicator& comm, DType dtype, ReduceOp op, int64_t count) {
  return visit_dtype(dtype, [&](auto zero) {
    Guarded<decltype(zero)> data(comm, count, [&](int64_t i) { return element(comm.rank(), i); });
    comm.reduce_scatter(data.buffer(), op).wait();
    return compare(data, chunk_of(count, comm.size(), comm.rank()), to_text("reduce_scatter ", name_of(op)),
                   [&](int64_t i) { return reduced(op, comm.size(), i); });
  });
}

std::string check_all_gather(Communicator& comm, DType dtype, int64_t count) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto expected = [&](int64_t i) { return element(static_cast<int>(i / count), i % count); };
    Guarded<T> mine(comm, count, [&](int64_t i) { return element(comm.rank(), i); });
    Guarded<T> all(comm, count * comm.size());
    comm.all_gather(mine.buffer(), all.buffer()).wait();
    std::string wrong = compare(all, {0, all.count()}, "all_gather", expected);

    Guarded<T> in_place(comm, count * comm.size());
    Buffer place = in_place.buffer();
    for (int64_t i = 0; i < count; ++i) in_place[comm.rank() * count + i] = mine[i];
    place.data = static_cast<T*>(place.data) + comm.rank() * count;
    place.count = count;
    comm.all_gather(place, in_place.buffer()).wait();
    return wrong + compare(in_place, {0, in_place.count()}, "all_gather in place", expected);
  });
}

std::string check_broadcast(Communicator& comm, DType dtype, int root, int64_t count) {
  return visit_dtype(dtype, [&](auto zero) {
    Guarded<decltype(zero)> data(comm, count,
                                 [&](int64_t i) { return comm.rank() == root ? element(root, i) : 99; });
    comm.broadcast(data.buffer(), root).wait();
    return compare(data, {0, count}, to_text("broadcast from ", root),
                   [&](int64_t i) { return element(root, i); });
  });
}

std::string check_tree_sum(Communicator& comm, DType dtype, int leaves, int64_t count, Codec codec) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto sum_of = [](int first, int last, int64_t i) {
      int sum = 0;
      for (int leaf = first; leaf < last; ++leaf) sum += element(leaf, i);
      return sum;
    };
    const auto [first, last] = rank_leaves(leaves, comm.size(), comm.rank());
    std::vector<Guarded<T>> operands;
    for (const TreeNode& node : maximal_subtrees(leaves, first, last)) {
      operands.emplace_back(comm, count, [&](int64_t i) {
        return sum_of(node.index << node.level, (node.index + 1) << node.level, i);
      });
    }
    std::vector<Buffer> views;
    for (Guarded<T>& operand : operands) views.push_back(operand.buffer());
    Guarded<T>& result = operands.back();  // an operand, but not the first
    comm.tree_sum(views, leaves, views.back(), {.codec = codec}).wait();
    return compare(result, {0, count}, to_text("tree_sum over ", leaves, ", codec ", name_of(codec)),
                   [&](int64_t i) { return sum_of(0, leaves, i); });
  });
}

std::string check_everything(Communicator& comm) {
  std::string wrong;
  const int ranks = comm.size();
  for (const int64_t count :
       {int64_t{0}, int64_t{1}, int64_t{ranks - 1}, int64_t{ranks}, int64_t{ranks + 1}, int64_t{2003}}) {
    for (const DType dtype : kAllDTypes) {
      for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
        wrong += check_all_reduce(comm, dtype, op, count);
        wrong += check_reduce_scatter(comm, dtype, op, count);
      }
      wrong += check_all_gather(comm, dtype, count);
      wrong += check_broadcast(comm, dtype, ranks - 1, count);
      wrong += check_tree_sum(comm, dtype, 16, count);
    }
  }
  comm.barrier();
  return wrong;
}

std::string check_codecs(Communicator& comm) {
  std::string wrong;
  for (const CodecRow& codec : codecs()) {
    const int64_t block = codec.block_count;
    for (const int64_t count : {int64_t{0}, int64_t{1}, block - 1, block, block + 1, 3 * block - 7,
                                comm.size() * block, (2 * comm.size() + 1) * block + 5}) {
      wrong += check_all_reduce(comm, DType::kF32, ReduceOp::kSum, count, codec.codec);
      wrong += check_tree_sum(comm, DType::kF32, 16, count, codec.codec);
    }
  }
  return wrong;
}

float uneven(int leaf, int64_t i) {
  constexpr float kValues[] = {1e8F, 1.0F, -1e8F, 1.0F, 3.1e-3F, -7.7e5F, 1.3F};
  return kValues[(leaf + i) % 7] + 0.37F * static_cast<float>(leaf);
}

std::vector<float> sum_uneven(Communicator& comm, int leaves, int64_t count, Codec codec) {
  // Of one subtree, with all that is below it.
  const auto sum_of = [&](const auto& self, int first, int last, float* sum) -> void {
    if (last - first == 1) {
      for (int64_t i = 0; i < count; ++i) sum[i] = uneven(first, i);
    } else {
      std::vector<float> right(static_cast<size_t>(count));
      const int middle = first + (last - first) / 2;
      self(self, first, middle, sum);
      self(self, middle, last, right.data());
      for (int64_t i = 0; i < count; ++i) sum[i] += right[static_cast<size_t>(i)];
    }
    round(codec, {sum, count, DType::kF32});
  };
  const auto [first, last] = rank_leaves(leaves, comm.size(), comm.rank());
  const Memory result(comm, count);
  std::vector<Memory> operands;
  std::vector<Buffer> views;
  for (const TreeNode& node : maximal_subtrees(leaves, first, last)) {
    Memory& operand = operands.emplace_back(comm, count);
    sum_of(sum_of, node.index << node.level, (node.index + 1) << node.level, operand.elements);
    views.push_back(operand.buffer());
  }
  comm.tree_sum(views, leaves, result.buffer(), {.codec = codec}).wait();
  return result.values();
}

std::vector<float> all_reduce_uneven(Communicator& comm, int64_t count, Codec codec) {
  const Memory data(comm, count);
  for (int64_t i = 0; i < count; ++i) data.elements[i] = uneven(comm.rank(), i);
  round(codec, data.buffer());
  comm.all_reduce(data.buffer(), ReduceOp::kSum, {.codec = codec}).wait();
  return data.values();
}

}  // namespace lockstep::comm::test

#include "comm/communicator.h"

#include <algorithm>
#include <cstring>

#include "comm/codecs/table.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

void check_buffer(const char* operation, const char* name, const Buffer& buffer) {
  check(buffer.count >= 0, operation, name, ": expected a count of 0 or more, got ", buffer.count);
  check(buffer.count == 0 || buffer.data, operation, name, " is null, but holds ", buffer.count, " elements");
}

void check_same_kind(const char* operation, const char* name, const Buffer& buffer, const Buffer& like) {
  check(buffer.dtype == like.dtype, operation, name, ": expected ", like.dtype, ", got ", buffer.dtype);
  check(buffer.count == like.count, operation, name, ": expected ", like.count, " elements, got ",
        buffer.count);
}

/// `sums`: what is asked for is a sum that every rank gets.
void check_codec(const char* operation, const CollectiveOptions& options, bool sums, DType dtype) {
  check(options.codec == Codec::kNone || (sums && dtype == DType::kF32), operation, "codec ",
        name_of(options.codec),
        ": expected none, since only all_reduce and tree_sum have codecs, for sums of f32");
}

bool overlap(const Buffer& a, const Buffer& b) {
  const auto* a_begin = static_cast<const std::byte*>(a.data);
  const auto* b_begin = static_cast<const std::byte*>(b.data);
  return a_begin < b_begin + b.nbytes() && b_begin < a_begin + a.nbytes();
}

void copy_elements(const Buffer& source, void* target) {
  if (source.count > 0 && source.data != target) std::memcpy(target, source.data, source.nbytes());
}

}  // namespace

Communicator::Communicator(int rank, int size) : rank_(rank), size_(size) {
  check(0 <= rank && rank < size, "communicator", "rank ", rank, " is not one of ", size);
}

std::shared_ptr<Storage> Communicator::allocate(size_t nbytes) {
  std::shared_ptr<Storage> storage = Storage::allocate(nbytes, kCpu);
  std::memset(storage->data(), 0, nbytes);
  return storage;
}

Work Communicator::submit(Call call) {
  call.sequence = ++sequence_;
  call.step = step_;
  return Work(*this, start(std::move(call)));
}

Work Communicator::all_reduce(Buffer data, ReduceOp op, const CollectiveOptions& options) {
  check_buffer("all_reduce", "data", data);
  check_codec("all_reduce", options, op == ReduceOp::kSum, data.dtype);
  if (size_ == 1) return {};
  return submit({.kind = Collective::kAllReduce,
                 .op = op,
                 .dtype = data.dtype,
                 .count = data.count,
                 .operands = {data},
                 .result = data,
                 .options = options});
}

Work Communicator::tree_sum(std::vector<Buffer> operands, int leaves, Buffer result,
                            const CollectiveOptions& options) {
  check_buffer("tree_sum", "result", result);
  check_codec("tree_sum", options, true, result.dtype);
  check(is_power_of_two(leaves) && leaves >= size_, "tree_sum",
        "leaves: expected a power of two and at least ", size_, " (the number of ranks), got ", leaves);
  const auto [first, last] = rank_leaves(leaves, size_, rank_);
  const size_t subtrees = maximal_subtrees(leaves, first, last).size();
  check(operands.size() == subtrees, "tree_sum", "expected ", subtrees,
        " operands, one for each subtree of leaves [", first, ", ", last, ") of ", leaves, "; got ",
        operands.size());
  for (const Buffer& operand : operands) {
    check_buffer("tree_sum", "operand", operand);
    check_same_kind("tree_sum", "operand", operand, result);
    check(operand.data == result.data || !overlap(operand, result), "tree_sum",
          "the result overlaps an operand without being it");
  }
  if (size_ == 1) {
    copy_elements(operands[0], result.data);
    return {};
  }
  return submit({.kind = Collective::kTreeSum,
                 .dtype = result.dtype,
                 .leaves = leaves,
                 .count = result.count,
                 .operands = std::move(operands),
                 .result = result,
                 .options = options});
}

Work Communicator::reduce_scatter(Buffer data, ReduceOp op, const CollectiveOptions& options) {
  check_buffer("reduce_scatter", "data", data);
  check_codec("reduce_scatter", options, false, data.dtype);
  if (size_ == 1) return {};
  return submit({.kind = Collective::kReduceScatter,
                 .op = op,
                 .dtype = data.dtype,
                 .count = data.count,
                 .operands = {data},
                 .result = data,
                 .options = options});
}

Work Communicator::all_gather(Buffer mine, Buffer all, const CollectiveOptions& options) {
  check_buffer("all_gather", "mine", mine);
  check_buffer("all_gather", "all", all);
  check_codec("all_gather", options, false, all.dtype);
  check(all.dtype == mine.dtype, "all_gather", "all: expected ", mine.dtype, " as in mine, got ", all.dtype);
  check(all.count == size_ * mine.count, "all_gather", "all: expected ", size_ * mine.count, " elements (",
        size_, " ranks, ", mine.count, " each), got ", all.count);
  std::byte* place = static_cast<std::byte*>(all.data) + static_cast<size_t>(rank_) * mine.nbytes();
  check(mine.data == place || !overlap(mine, all), "all_gather", "mine overlaps all, but not at rank ", rank_,
        "'s place");
  if (size_ == 1) {
    copy_elements(mine, place);
    return {};
  }
  return submit({.kind = Collective::kAllGather,
                 .dtype = mine.dtype,
                 .count = mine.count,
                 .operands = {mine},
                 .result = all,
                 .options = options});
}

Work Communicator::broadcast(Buffer data, int root, const CollectiveOptions& options) {
  check_buffer("broadcast", "data", data);
  check_codec("broadcast", options, false, data.dtype);
  check(0 <= root && root < size_, "broadcast", "root: expected a rank below ", size_, ", got ", root);
  if (size_ == 1) return {};
  return submit({.kind = Collective::kBroadcast,
                 .dtype = data.dtype,
                 .root = root,
                 .count = data.count,
                 .result = data,
                 .options = options});
}

void Communicator::barrier(const CollectiveOptions& options) {
  check_codec("barrier", options, false, DType::kU8);
  if (size_ == 1) return;
  submit({.kind = Collective::kBarrier, .options = options}).wait();
}

std::unique_ptr<Communicator> Communicator::split(int color, int key) {
  struct Wish {
    int64_t color;
    int64_t key;
  };
  const Wish mine{color, key};
  std::vector<Wish> wishes(size_, mine);
  all_gather({const_cast<Wish*>(&mine), 2, DType::kI64}, {wishes.data(), 2 * size_, DType::kI64},
             {.label = "split"})
      .wait();
  std::vector<int> members;
  for (int rank = 0; rank < size_; ++rank) {
    if (color >= 0 && wishes[rank].color == color) members.push_back(rank);
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](int a, int b) { return wishes[a].key < wishes[b].key; });
  return make_split(color, members);
}

}  // namespace lockstep::comm

#include "parallel/slot_sums.h"

#include <algorithm>
#include <tuple>

#include "comm/reduction_tree.h"
#include "runtime/error.h"

namespace lockstep::parallel {

SlotSums::SlotSums(size_t width, int virtual_ranks, comm::Communicator& communicator)
    : width_(width), virtual_ranks_(virtual_ranks), communicator_(communicator) {
  std::tie(first_slot_, last_slot_) =
      comm::rank_leaves(virtual_ranks, communicator.size(), communicator.rank());
  rows_.resize(width * static_cast<size_t>(last_slot_ - first_slot_));
  reset();
}

void SlotSums::reset() {
  std::fill(rows_.begin(), rows_.end(), -0.0);
}

std::span<double> SlotSums::row(int slot) {
  ensure(slot >= first_slot_ && slot < last_slot_, "slot_sums", "slot ", slot, " is not of this rank: [",
         first_slot_, ", ", last_slot_, ")");
  return std::span(rows_).subspan(static_cast<size_t>(slot - first_slot_) * width_, width_);
}

std::span<double> SlotSums::sum_subtree(int level, int index) {
  if (level == 0) return row(index);
  const std::span<double> left = sum_subtree(level - 1, 2 * index);
  const std::span<double> right = sum_subtree(level - 1, 2 * index + 1);
  for (size_t i = 0; i < width_; ++i) left[i] += right[i];
  return left;
}

std::vector<double> SlotSums::reduce(const std::string& label) {
  std::vector<comm::Buffer> operands;
  for (const comm::TreeNode& node : comm::maximal_subtrees(virtual_ranks_, first_slot_, last_slot_)) {
    operands.push_back(
        {sum_subtree(node.level, node.index).data(), static_cast<int64_t>(width_), DType::kF64});
  }
  std::vector<double> total(width_);
  communicator_
      .tree_sum(std::move(operands), virtual_ranks_,
                {total.data(), static_cast<int64_t>(width_), DType::kF64}, {.label = label})
      .wait();
  return total;
}

}  // namespace lockstep::parallel

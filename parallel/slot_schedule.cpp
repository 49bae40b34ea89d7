#include "parallel/slot_schedule.h"

#include <algorithm>

#include "comm/reduction_tree.h"

namespace lockstep::parallel {
namespace {

/// Hands out buffer numbers from 1 on and takes them back.
class BufferNumbers {
 public:
  int take() {
    if (free_.empty()) return ++highest_;
    const auto lowest = std::min_element(free_.begin(), free_.end());
    const int number = *lowest;
    free_.erase(lowest);
    return number;
  }
  void give_back(int number) { free_.push_back(number); }
  int count() const { return highest_ + 1; }

 private:
  std::vector<int> free_;
  int highest_ = 0;
};

/// For every occupied slot, the slots whose finished sums are added to it right after, innermost first. A sum
/// is named by its first occupied slot. Returns the first occupied slot below `node`, or -1.
int collect_additions(const comm::TreeNode& node, const std::vector<int>& occupied,
                      std::vector<std::vector<int>>& additions) {
  const int begin = node.index << node.level;
  const int end = (node.index + 1) << node.level;
  const auto first = std::lower_bound(occupied.begin(), occupied.end(), begin);
  if (first == occupied.end() || *first >= end) return -1;
  if (node.level == 0) return begin;
  const int left = collect_additions({node.level - 1, 2 * node.index}, occupied, additions);
  const int right = collect_additions({node.level - 1, 2 * node.index + 1}, occupied, additions);
  if (left < 0 || right < 0) return std::max(left, right);
  const auto last = std::lower_bound(occupied.begin(), occupied.end(), end) - 1;
  additions[static_cast<size_t>(last - occupied.begin())].push_back(left);
  return left;
}

}  // namespace

SlotSchedule schedule_slots(int leaves, int first, int last, const std::vector<int>& occupied) {
  const std::vector<comm::TreeNode> subtrees = comm::maximal_subtrees(leaves, first, last);
  std::vector<std::vector<int>> additions(occupied.size());
  std::vector<int> roots;
  for (const comm::TreeNode& subtree : subtrees)
    roots.push_back(collect_additions(subtree, occupied, additions));

  SlotSchedule schedule;
  BufferNumbers numbers;
  std::vector<int> buffer_of(static_cast<size_t>(leaves), -1);  // by a sum's name
  for (size_t i = 0; i < occupied.size(); ++i) {
    SlotStep step{occupied[i], kBucketBuffer, {}, kBucketBuffer};
    const bool is_last = i + 1 == occupied.size();
    for (const int name : additions[i]) step.addends.push_back(buffer_of[static_cast<size_t>(name)]);
    if (!is_last) {
      if (step.addends.empty()) step.buffer = numbers.take();
      step.target = step.addends.empty() ? step.buffer : step.addends.back();
    }
    for (const int addend : step.addends) {
      if (addend != step.target) numbers.give_back(addend);
    }
    const int name = additions[i].empty() ? occupied[i] : additions[i].back();
    buffer_of[static_cast<size_t>(name)] = step.target;
    schedule.steps.push_back(std::move(step));
  }

  bool bucket_is_free = occupied.empty();
  for (const int root : roots) {
    if (root >= 0) {
      schedule.operands.push_back(buffer_of[static_cast<size_t>(root)]);
      continue;
    }
    const int buffer = bucket_is_free ? kBucketBuffer : numbers.take();
    bucket_is_free = false;
    schedule.operands.push_back(buffer);
    schedule.neutral.push_back(buffer);
  }
  schedule.buffers = numbers.count();
  return schedule;
}

}  // namespace lockstep::parallel

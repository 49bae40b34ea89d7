// In which buffer each slot's gradients are accumulated, and which buffers are added when: one rank's part of
// the summation tree, with as few gradient-sized buffers as a binary counter needs. Pure arithmetic.
#pragma once

#include <vector>

namespace lockstep::parallel {

/// Buffer 0 is the gradient bucket itself; others are allocated on demand.
inline constexpr int kBucketBuffer = 0;

/// What happens for one occupied slot: its gradients go to `buffer`, then, when `addends` is not empty,
/// target <- addends[n-1] + (... + (addends[0] + buffer)).
struct SlotStep {
  int slot = 0;
  int buffer = 0;
  std::vector<int> addends;
  int target = 0;  ///< equals `buffer` where nothing is added
};

struct SlotSchedule {
  std::vector<SlotStep>
      steps;  ///< one per occupied slot, in index order; the last one's buffer and target are the bucket
  /// The buffer of each maximal aligned subtree of the rank's slots, in order (see comm::maximal_subtrees).
  std::vector<int> operands;
  std::vector<int>
      neutral;      ///< operands without any sample; to be filled with -0.0, which adding does not notice
  int buffers = 1;  ///< how many the schedule uses, the bucket included
};

/// `occupied` lists those slots of [first, last) that hold samples, ascending; `leaves` is a power of two.
SlotSchedule schedule_slots(int leaves, int first, int last, const std::vector<int>& occupied);

}  // namespace lockstep::parallel

// Plans by the shape of the call, so that the calls of a steady training step are planned once.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include "comm/algorithms/selection.h"
#include "comm/call.h"

namespace lockstep::comm {

/// For one rank of one communicator. Not thread safe.
class PlanCache {
 public:
  /// `selection` plans reductions; `chunk_bytes` is where messages are cut.
  PlanCache(int rank, int size, const Selection& selection, size_t chunk_bytes);

  /// From now on calls in shared memory may be planned to use it, by this selection. Drops all plans.
  void share(int ranks_per_node, const Selection& selection);

  /// With a codec, an element of the plan is a block of the call's elements.
  std::shared_ptr<const Plan> plan_for(const Call& call);

 private:
  Plan make_plan(const Call& call) const;
  Plan plan_reduction(const Call& call, const ReductionShape& shape) const;

  // kind, count, element size, leaves, root, shared, codec
  using Key = std::tuple<Collective, int64_t, size_t, int, int, bool, Codec>;
  const int rank_;
  const int size_;
  Selection selection_;
  const Selection in_other_memory_;  // in place of an algorithm that needs shared memory
  const size_t chunk_bytes_;
  int ranks_per_node_ = 1;
  std::map<Key, std::shared_ptr<const Plan>> plans_;
};

}  // namespace lockstep::comm

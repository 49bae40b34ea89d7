#include "comm/host/plan_cache.h"

#include <algorithm>

#include "comm/algorithms/moves.h"
#include "comm/codecs/table.h"

namespace lockstep::comm {
namespace {

/// A training step makes far fewer kinds of calls; whoever makes more pays for planning.
constexpr size_t kMostPlans = 256;

}  // namespace

PlanCache::PlanCache(int rank, int size, const Selection& selection, size_t chunk_bytes)
    : rank_(rank),
      size_(size),
      selection_(selection),
      in_other_memory_(automatic_selection(size, 1)),
      chunk_bytes_(chunk_bytes) {}

void PlanCache::share(int ranks_per_node, const Selection& selection) {
  ranks_per_node_ = ranks_per_node;
  selection_ = selection;
  plans_.clear();
}

std::shared_ptr<const Plan> PlanCache::plan_for(const Call& call) {
  const Key key{call.kind, call.count,  size_of(call.dtype), call.leaves,
                call.root, call.shared, call.options.codec};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  if (plans_.size() >= kMostPlans) plans_.clear();
  return plans_[key] = std::make_shared<const Plan>(make_plan(call));
}

Plan PlanCache::make_plan(const Call& call) const {
  const CodecRow* codec = find_codec(call.options.codec);
  const int64_t count = codec ? codec->blocks_of(call.count) : call.count;
  const size_t element_bytes = size_of(call.dtype) * static_cast<size_t>(codec ? codec->block_count : 1);
  const int64_t chunk_count = std::max<int64_t>(1, static_cast<int64_t>(chunk_bytes_ / element_bytes));
  ReductionShape shape{rank_, size_, count, chunk_count, one_leaf_each(size_), ranks_per_node_, false};
  if (codec) shape.alignment = 1;
  switch (call.kind) {
    case Collective::kAllReduce:
      return plan_reduction(call, shape);
    case Collective::kTreeSum:
      shape.layout = dealt_leaves(call.leaves, size_);
      return plan_reduction(call, shape);
    case Collective::kReduceScatter:
      shape.scatter = true;
      return plan_reduction(call, shape);
    case Collective::kAllGather:
      return all_gather(rank_, size_, call.count);
    case Collective::kBroadcast:
      return broadcast({rank_, size_, call.root, call.count, chunk_count});
    case Collective::kBarrier:
      break;
  }
  return barrier(rank_, size_);
}

Plan PlanCache::plan_reduction(const Call& call, const ReductionShape& shape) const {
  const size_t nbytes = static_cast<size_t>(call.count) * size_of(call.dtype);
  const Algorithm& chosen = selection_.choose(nbytes);
  const bool possible = call.shared || !chosen.shared_memory;
  return (possible ? chosen : in_other_memory_.choose(nbytes)).plan(shape);
}

}  // namespace lockstep::comm

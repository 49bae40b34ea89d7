#include "comm/algorithms/plan.h"

#include <algorithm>

#include "runtime/error.h"

namespace lockstep::comm {

StepId PlanBuilder::send(int peer, int tag, const Region& source, const Dependencies& after) {
  return add_unless_empty({StepKind::kSend, peer, tag, {}, source, {}}, after);
}

StepId PlanBuilder::receive(int peer, int tag, const Region& target, const Dependencies& after) {
  return add_unless_empty({StepKind::kReceive, peer, tag, target, target, {}}, after);
}

StepId PlanBuilder::copy(const Region& source, const Region& target, const Dependencies& after) {
  return add_unless_empty({StepKind::kCopy, -1, 0, target, source, {}}, after);
}

StepId PlanBuilder::reduce(const Region& left, const Region& right, const Region& target,
                           const Dependencies& after) {
  return add_unless_empty({StepKind::kReduce, -1, 0, target, left, right}, after);
}

StepId PlanBuilder::publish(int peer, int tag) {
  plan_.reaches_peers = true;
  return add({StepKind::kPublish, peer, tag, {}, {}, {}}, {});
}

StepId PlanBuilder::discover(int peer, int tag, int buffers) {
  return add({StepKind::kDiscover, peer, tag, {kResult, 0, buffers}, {}, {}}, {});
}

StepId PlanBuilder::signal(int peer, int tag, const Dependencies& after) {
  return add({StepKind::kSignal, peer, tag, {}, {}, {}}, after);
}

StepId PlanBuilder::await(int peer, int tag) {
  return add({StepKind::kAwait, peer, tag, {}, {}, {}}, {});
}

Region PlanBuilder::scratch(int64_t count) {
  const Region region{kScratch, plan_.scratch_count, count};
  plan_.scratch_count += count;
  return region;
}

PlanBuilder::Dependencies PlanBuilder::embed(const Plan& inner, const Embedding& where,
                                             const Dependencies& after) {
  const auto translate = [&](const Region& region) {
    const Region& base = region.buffer == kResult    ? where.result
                         : region.buffer == kScratch ? where.scratch
                                                     : where.operands[region.buffer];
    return Region{base.buffer, base.begin + region.begin, region.count, base.peer};
  };
  const auto first = static_cast<StepId>(plan_.steps.size());
  Dependencies last;
  for (StepId id = 0; id < static_cast<StepId>(inner.steps.size()); ++id) {
    Step step = inner.steps[id];
    const bool local = step.kind == StepKind::kReduce || step.kind == StepKind::kCopy;
    if (!local) {
      step.peer = where.ranks[step.peer];
      step.tag += where.first_tag;
    }
    if (step.kind != StepKind::kSend) step.target = translate(step.target);
    step.left = translate(step.left);
    if (step.kind == StepKind::kReduce) step.right = translate(step.right);
    add(step, inner.dependency_counts[id] == 0 ? after : Dependencies{});
    for (int i = inner.successor_offsets[id]; i < inner.successor_offsets[id + 1]; ++i) {
      edges_.emplace_back(first + id, first + inner.successors[i]);
    }
    if (inner.successor_offsets[id] == inner.successor_offsets[id + 1]) last.push_back(first + id);
  }
  return last;
}

StepId PlanBuilder::add_unless_empty(const Step& step, const Dependencies& after) {
  return step.left.count == 0 ? kNoStep : add(step, after);
}

StepId PlanBuilder::add(const Step& step, const Dependencies& after) {
  ensure(0 <= step.tag && step.tag < Plan::kTagEnd, "plan", "tag ", step.tag, " is out of range");
  const StepId id = static_cast<StepId>(plan_.steps.size());
  plan_.steps.push_back(step);
  for (const StepId earlier : after) {
    if (earlier != kNoStep) edges_.emplace_back(earlier, id);
  }
  return id;
}

Plan PlanBuilder::finish() {
  const size_t steps = plan_.steps.size();
  plan_.dependency_counts.assign(steps, 0);
  plan_.successor_offsets.assign(steps + 1, 0);
  for (const auto& [earlier, later] : edges_) {
    ++plan_.dependency_counts[later];
    ++plan_.successor_offsets[earlier + 1];
  }
  for (size_t s = 0; s < steps; ++s) plan_.successor_offsets[s + 1] += plan_.successor_offsets[s];
  plan_.successors.resize(edges_.size());
  std::vector<int> next = plan_.successor_offsets;
  for (const auto& [earlier, later] : edges_) plan_.successors[next[earlier]++] = later;
  return std::move(plan_);
}

int piece_count(int64_t count, int64_t chunk_count, int64_t tags_per_piece) {
  const int64_t wanted = (count + chunk_count - 1) / chunk_count;
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, Plan::kTagEnd / tags_per_piece));
}

Range piece_of(int64_t count, int pieces, int index, int64_t unit) {
  const Range units = chunk_of((count + unit - 1) / unit, pieces, index);
  return {std::min(units.begin * unit, count), std::min(units.end * unit, count)};
}

}  // namespace lockstep::comm

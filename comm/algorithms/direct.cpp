#include "comm/algorithms/direct.h"

namespace lockstep::comm {

Plan direct(const ReductionShape& shape) {
  PlanBuilder plan;
  const Range all{0, shape.count};
  std::vector<StepId> sent;
  for (int offset = 1; offset < shape.size; ++offset) {
    const int peer = (shape.rank + offset) % shape.size;
    const int operands = static_cast<int>(shape.layout.subtrees(shape.rank).size());
    for (int i = 0; i < operands; ++i) sent.push_back(plan.send(peer, i, Region{i}.part(all)));
  }

  // The tree is summed in scratch memory, because the operands are still being sent.
  std::vector<TreeNode> subtrees;
  std::vector<Region> values;
  std::vector<StepId> ready;
  for (int rank = 0; rank < shape.size; ++rank) {
    const std::vector<TreeNode> of_rank = shape.layout.subtrees(rank);
    for (int i = 0; i < static_cast<int>(of_rank.size()); ++i) {
      subtrees.push_back(of_rank[i]);
      values.push_back(plan.scratch(shape.count));
      ready.push_back(rank == shape.rank ? plan.copy(Region{i}.part(all), values.back())
                                         : plan.receive(rank, i, values.back()));
    }
  }
  for (const Merge& merge : merges_to_root(subtrees)) {
    ready[merge.left] = plan.reduce(values[merge.left], values[merge.right], values[merge.left],
                                    {ready[merge.left], ready[merge.right]});
  }
  // The result may be one of the operands.
  sent.push_back(ready[0]);
  sent.insert(sent.end(), ready.begin(), ready.end());
  plan.copy(values[0], Region{kResult}.part(all), sent);
  return plan.finish();
}

}  // namespace lockstep::comm

#include "parallel/step_plan.h"

#include <algorithm>
#include <tuple>

#include "comm/reduction_tree.h"
#include "runtime/error.h"

namespace lockstep::parallel {

StepPlan plan_step(int64_t samples, int64_t micro_batch, int virtual_ranks, int ranks, int rank) {
  check(samples >= 0 && micro_batch > 0, "plan_step", "expected samples >= 0 and micro_batch > 0, got ",
        samples, " and ", micro_batch);
  check(ranks <= virtual_ranks, "plan_step", ranks, " ranks need virtual_ranks >= ", ranks, ", got ",
        virtual_ranks);
  StepPlan plan;
  plan.samples = samples;
  plan.micro_batches = (samples + micro_batch - 1) / micro_batch;
  std::tie(plan.first_slot, plan.last_slot) = comm::rank_leaves(virtual_ranks, ranks, rank);
  for (int t = plan.first_slot; t < plan.last_slot; ++t) {
    Slot slot{t, {}};
    const int64_t end = (t + 1) * plan.micro_batches / virtual_ranks;
    for (int64_t index = t * plan.micro_batches / virtual_ranks; index < end; ++index) {
      const int64_t first = index * micro_batch;
      slot.micro_batches.push_back({index, first, std::min(micro_batch, samples - first)});
    }
    if (!slot.micro_batches.empty()) plan.slots.push_back(std::move(slot));
  }
  return plan;
}

}  // namespace lockstep::parallel

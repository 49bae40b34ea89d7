// How a step's samples are dealt to micro-batches, slots and ranks. Pure arithmetic, no communication.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::parallel {

/// Consecutive samples that go through the model together.
struct MicroBatch {
  int64_t index = 0;  ///< in the step
  int64_t first = 0;  ///< first sample, counted from the step's first
  int64_t count = 0;
};

/// A leaf of the gradient's summation tree: micro-batches whose gradients are added one after another.
struct Slot {
  int index = 0;
  std::vector<MicroBatch> micro_batches;
};

/// One rank's part of a step.
struct StepPlan {
  int64_t samples = 0;        ///< of all ranks
  int64_t micro_batches = 0;  ///< of all ranks
  int first_slot = 0;         ///< this rank owns slots [first_slot, last_slot)
  int last_slot = 0;
  std::vector<Slot> slots;  ///< those that hold samples, in index order
};

/// `samples` form M = ceil(samples / micro_batch) micro-batches in index order; slot t of `virtual_ranks` (T,
/// a power of two) holds [floor(tM/T), floor((t+1)M/T)), and rank r of R <= T runs slots [floor(rT/R),
/// floor((r+1)T/R)). So the order of every sum depends on samples, micro_batch and T, never on R.
StepPlan plan_step(int64_t samples, int64_t micro_batch, int virtual_ranks, int ranks, int rank);

}  // namespace lockstep::parallel

// Data-parallel gradients: every rank runs its share of a step's micro-batches, and all ranks end up with the
// same bits of the same sum, for any number of ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "parallel/bucket_plan.h"
#include "parallel/finite.h"
#include "parallel/gradient_memory.h"
#include "parallel/slot_schedule.h"
#include "parallel/slot_sums.h"
#include "parallel/step_plan.h"
#include "runtime/parameter.h"

namespace lockstep::parallel {

struct DataParallelOptions {
  /// Leaves of the summation tree (T): a power of two, at least the number of ranks. It fixes the bits.
  int virtual_ranks = 16;
  BucketOptions buckets = {};
  /// Reduce each bucket as soon as backward has filled it; else all of them after backward.
  bool overlap = true;
  /// How gradients are rounded and travel: every slot's sum and every sum above it. It fixes the bits, on one
  /// rank too.
  comm::Codec codec = comm::Codec::kNone;
  /// How many numbers per slot the forward function adds up (losses, counts).
  size_t sums = 0;
  /// How many numbers each rank contributes once per step (flags).
  size_t rank_values = 0;
};

/// Where the time of a step went, on this rank.
struct StepTimes {
  std::chrono::nanoseconds forward{0};        ///< waiting for data included
  std::chrono::nanoseconds backward{0};       ///< adding up within the rank included
  std::chrono::nanoseconds communication{0};  ///< exposed: after the last backward
};

/// The communicator and everything that the parameters belong to must outlive this object. One thread at a
/// time.
class DistributedDataParallel {
 public:
  /// Runs the model on one micro-batch, adds to `sums`, and returns the differentiable *sum* (not mean) of
  /// its losses.
  using Forward = std::function<Tensor(const MicroBatch& micro_batch, std::span<double> sums)>;

  DistributedDataParallel(std::vector<Parameter*> parameters, std::vector<RunningStatistic*> statistics,
                          comm::Communicator& communicator, const DataParallelOptions& options);

  /// Losses of the steps from now on are multiplied by it, and so are the gradients: divide by it together
  /// with the number of items. 1 at first.
  void set_loss_scale(double scale);

  /// Collective. Runs forward and backward of this rank's micro-batches, reducing buckets while backward goes
  /// on, and returns the global sums: those of `forward`, then those of `rank_values`. Afterwards gradient(i)
  /// is the gradient of the summed loss over the whole step, times the loss scale: a parameter that nothing
  /// reached has zeros. When it throws (what `forward` threw, or a CommError), the communicator is dead.
  std::vector<double> step(const StepPlan& plan, std::span<const double> rank_values, const Forward& forward);

  /// Whether the last step's gradient is free of infinities and NaN: on every rank before the reduction, and
  /// in the sum. The same answer on all ranks, since both are known from what was reduced.
  bool gradient_is_finite();
  /// Collective, after a step whose gradient is not: the first parameter, in their order, where that shows,
  /// and the ranks that had it before the reduction.
  NonFinite find_nonfinite_gradient();

  /// Takes the last step's batch statistics into the running ones. Not called for a step that is skipped.
  void commit_statistics();

  Tensor gradient(size_t parameter) { return memory_.gradient(parameter); }
  const BucketPlan& plan() const { return plan_; }
  const GradientMemory& memory() const { return memory_; }
  const StepTimes& times() const { return times_; }

 private:
  struct BucketState {
    int pending = 0;  // parameters whose gradient is not ready
    comm::Work work;
    std::chrono::steady_clock::time_point start;
  };

  std::vector<double> run_step(const StepPlan& plan, std::span<const double> rank_values,
                               const Forward& forward);
  void run_slot(const Slot& slot, const SlotStep& step, const Forward& forward);
  void on_gradient_ready(size_t parameter);
  void begin_last_backward();
  void launch(size_t bucket);
  void wait_for_buckets();
  /// Where in a row of sums the ranks with a gradient that is not finite are counted.
  size_t bad_ranks() const { return options_.sums + options_.rank_values; }
  void search_local(const Bucket& range);
  int64_t first_nonfinite_in(const Bucket& range, int buffer);
  void show_buckets() const;
  void bind_statistics(std::span<double> sums);
  std::string label(size_t bucket) const;

  std::vector<Parameter*> parameters_;
  std::vector<RunningStatistic*> statistics_;
  comm::Communicator& communicator_;
  DataParallelOptions options_;
  BucketPlan plan_;
  GradientMemory memory_;
  SlotSums sums_;
  Tensor seed_;

  // The step that runs now.
  SlotSchedule schedule_;
  std::vector<BucketState> buckets_;
  size_t launched_ = 0;                  // buckets, in plan order
  bool counting_ = false;                // the last backward of this rank's last slot runs
  int64_t first_nonfinite_ = kNoTensor;  // parameter whose gradient is not finite on this rank
  StepTimes times_;
  std::vector<double> totals_;  // of the last step: sums, rank values, ranks with a bad gradient, statistics
  int64_t micro_batches_ = 0;
};

}  // namespace lockstep::parallel

#include "parallel/data_parallel.h"

#include <algorithm>

#include "comm/reduction_tree.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/profile.h"

namespace lockstep::parallel {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int64_t> counts_of(const std::vector<Parameter*>& parameters) {
  std::vector<int64_t> counts;
  for (const Parameter* parameter : parameters) counts.push_back(parameter->value.count());
  return counts;
}

size_t width_of(const std::vector<RunningStatistic*>& statistics) {
  size_t width = 0;
  for (const RunningStatistic* statistic : statistics) width += static_cast<size_t>(statistic->value.count());
  return width;
}

/// Adds its lifetime to one of the times of a step, and is a phase in a profile.
class PhaseTimer {
 public:
  PhaseTimer(const char* name, std::chrono::nanoseconds& time)
      : span_(profile::Category::kPhase, name), time_(time) {}
  ~PhaseTimer() { time_ += Clock::now() - start_; }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  profile::Span span_;
  std::chrono::nanoseconds& time_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

DistributedDataParallel::DistributedDataParallel(std::vector<Parameter*> parameters,
                                                 std::vector<RunningStatistic*> statistics,
                                                 comm::Communicator& communicator,
                                                 const DataParallelOptions& options)
    : parameters_(std::move(parameters)),
      statistics_(std::move(statistics)),
      communicator_(communicator),
      options_(options),
      plan_(plan_buckets(counts_of(parameters_), options.buckets)),
      memory_(parameters_, plan_, communicator),
      sums_(options.sums + options.rank_values + 1 + width_of(statistics_), options.virtual_ranks,
            communicator),
      seed_(Tensor::scalar(1)),
      buckets_(plan_.buckets.size()) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i]->value.leaf_gradient().on_ready([this, i] { on_gradient_ready(i); });
  }
}

void DistributedDataParallel::set_loss_scale(double scale) {
  seed_ = Tensor::scalar(static_cast<float>(scale));
}

std::vector<double> DistributedDataParallel::step(const StepPlan& plan, std::span<const double> rank_values,
                                                  const Forward& forward) {
  try {
    return run_step(plan, rank_values, forward);
  } catch (const std::exception& error) {  // buckets may be in flight, and their memory is about to go
    communicator_.abandon(to_text("rank ", communicator_.rank(), " gave up the step: ", error.what()));
    throw;
  }
}

std::vector<double> DistributedDataParallel::run_step(const StepPlan& plan,
                                                      std::span<const double> rank_values,
                                                      const Forward& forward) {
  ensure(rank_values.size() == options_.rank_values, "step", "got ", rank_values.size(), " rank values");
  std::vector<int> occupied;
  for (const Slot& slot : plan.slots) occupied.push_back(slot.index);
  schedule_ = schedule_slots(options_.virtual_ranks, plan.first_slot, plan.last_slot, occupied);
  times_ = {};
  launched_ = 0;
  first_nonfinite_ = kNoTensor;
  sums_.reset();
  const std::span<double> own = sums_.row(plan.first_slot).subspan(options_.sums, options_.rank_values);
  for (size_t i = 0; i < rank_values.size(); ++i) own[i] = rank_values[i];

  for (size_t i = 0; i < plan.slots.size(); ++i) run_slot(plan.slots[i], schedule_.steps[i], forward);

  wait_for_buckets();
  bind_statistics({});
  micro_batches_ = plan.micro_batches;
  return {totals_.begin(), totals_.begin() + static_cast<std::ptrdiff_t>(bad_ranks())};
}

void DistributedDataParallel::run_slot(const Slot& slot, const SlotStep& step, const Forward& forward) {
  memory_.bind(step.buffer);
  const std::span<double> row = sums_.row(slot.index);
  bind_statistics(row.subspan(bad_ranks() + 1));
  const bool last_slot = &step == &schedule_.steps.back();
  for (const MicroBatch& micro_batch : slot.micro_batches) {
    Tensor loss;
    {
      const PhaseTimer timer("forward", times_.forward);
      loss = forward(micro_batch, row.first(options_.sums));
    }
    if (last_slot && &micro_batch == &slot.micro_batches.back()) begin_last_backward();
    const PhaseTimer timer("backward", times_.backward);
    lockstep::backward(loss, {.seed = seed_, .between_nodes = [this] { communicator_.poll(); }});
  }
  counting_ = false;
  if (last_slot) return;
  const PhaseTimer timer("backward", times_.backward);
  const profile::Span span(profile::Category::kOther, "sum of slots");
  for (const Bucket& range : plan_.buckets) {
    memory_.complete(range, step.buffer);
    memory_.add(step, range, options_.codec);
  }
}

void DistributedDataParallel::begin_last_backward() {
  counting_ = options_.overlap;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    buckets_[b].pending = static_cast<int>(plan_.buckets[b].parameters.size());
  }
}

void DistributedDataParallel::on_gradient_ready(size_t parameter) {
  if (!counting_) return;
  --buckets_[static_cast<size_t>(plan_.bucket_of[parameter])].pending;
  while (launched_ < buckets_.size() && buckets_[launched_].pending == 0) launch(launched_++);
}

void DistributedDataParallel::launch(size_t b) {
  const Bucket& range = plan_.buckets[b];
  buckets_[b].start = Clock::now();
  if (!schedule_.steps.empty()) {
    memory_.complete(range, kBucketBuffer);
    memory_.add(schedule_.steps.back(), range, options_.codec);
  }
  for (const int buffer : schedule_.neutral) memory_.fill_neutral(buffer, range);
  search_local(range);
  std::vector<comm::Buffer> operands;
  for (const int buffer : schedule_.operands)
    operands.push_back({memory_.data(buffer, range), range.count, DType::kF32});
  const comm::Buffer result{memory_.data(kBucketBuffer, range), range.count, DType::kF32};
  buckets_[b].work = communicator_.tree_sum(std::move(operands), options_.virtual_ranks, result,
                                            {.label = label(b), .codec = options_.codec});
}

/// Launches those of which no backward told, and waits for all.
void DistributedDataParallel::wait_for_buckets() {
  const PhaseTimer timer("communication", times_.communication);
  while (launched_ < buckets_.size()) launch(launched_++);
  sums_.row(sums_.first_slot())[bad_ranks()] = first_nonfinite_ == kNoTensor ? 0 : 1;
  {
    const profile::Span span(profile::Category::kCommunication, "wait for the step's sums");
    totals_ = sums_.reduce("the step's sums");
  }
  for (BucketState& bucket : buckets_) {
    const profile::Span span(profile::Category::kCommunication, "wait for a bucket");
    bucket.work.wait();
  }
  if (profile::recording() && communicator_.size() > 1) show_buckets();
}

/// Before the reduction, which writes over the operands; an infinity or NaN of any slot is still in them.
void DistributedDataParallel::search_local(const Bucket& range) {
  for (const int buffer : schedule_.operands) {
    const std::span<const float> values(memory_.data(buffer, range), static_cast<size_t>(range.count));
    if (!all_finite(values)) first_nonfinite_ = std::min(first_nonfinite_, first_nonfinite_in(range, buffer));
  }
}

int64_t DistributedDataParallel::first_nonfinite_in(const Bucket& range, int buffer) {
  int64_t first = kNoTensor;
  for (const int p : range.parameters) {
    const auto i = static_cast<size_t>(p);
    const Bucket own{plan_.offsets[i], parameters_[i]->value.count(), {p}};
    const std::span<const float> values(memory_.data(buffer, own), static_cast<size_t>(own.count));
    if (p < first && !all_finite(values)) first = p;
  }
  return first;
}

bool DistributedDataParallel::gradient_is_finite() {
  const profile::Span span(profile::Category::kOther, "check of the gradients");
  if (totals_[bad_ranks()] > 0) return false;
  return std::ranges::all_of(plan_.buckets, [&](const Bucket& range) {
    return all_finite({memory_.data(kBucketBuffer, range), static_cast<size_t>(range.count)});
  });
}

NonFinite DistributedDataParallel::find_nonfinite_gradient() {
  int64_t summed = kNoTensor;
  for (const Bucket& range : plan_.buckets)
    summed = std::min(summed, first_nonfinite_in(range, kBucketBuffer));
  return find_nonfinite(communicator_, first_nonfinite_, summed);
}

/// From launch to end, which lie on several threads, in a lane of their own.
void DistributedDataParallel::show_buckets() const {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    profile::Event event;
    event.category = profile::Category::kCommunication;
    event.name = label(b);
    event.start = buckets_[b].start;
    event.end = buckets_[b].work.end();
    profile::add_event("communication", std::move(event));
  }
}

void DistributedDataParallel::bind_statistics(std::span<double> sums) {
  for (RunningStatistic* statistic : statistics_) {
    const size_t count = sums.empty() ? 0 : static_cast<size_t>(statistic->value.count());
    statistic->sum = sums.first(count);
    sums = sums.subspan(count);
  }
}

void DistributedDataParallel::commit_statistics() {
  if (micro_batches_ == 0) return;
  std::span<const double> rest = std::span<const double>(totals_).subspan(bad_ranks() + 1);
  for (RunningStatistic* statistic : statistics_) {
    const auto count = static_cast<size_t>(statistic->value.count());
    statistic->commit(rest.first(count), micro_batches_);
    rest = rest.subspan(count);
  }
}

std::string DistributedDataParallel::label(size_t bucket) const {
  const std::vector<int>& members = plan_.buckets[bucket].parameters;
  const auto name = [&](int p) -> const std::string& { return parameters_[static_cast<size_t>(p)]->name; };
  return to_text("bucket ", bucket, " (", name(members.front()), " .. ", name(members.back()), ")");
}

}  // namespace lockstep::parallel

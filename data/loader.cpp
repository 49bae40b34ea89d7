#include "data/loader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"

namespace lockstep::data {

namespace {

void check_options(const LoaderOptions& options) {
  check(options.threads >= 0, "Loader", "threads: expected 0 or more, got ", options.threads);
  check(options.prefetch >= 1, "Loader", "prefetch: expected 1 or more, got ", options.prefetch);
  check(options.timeout.count() > 0, "Loader", "timeout: expected a positive time, got ",
        options.timeout.count(), " ns");
}

void check_bad_samples(BadSamples policy, const SampleSpec& spec) {
  check(policy != BadSamples::kLeaveOut || spec.target_dtype == DType::kI64, "Loader",
        "bad samples can be left out only where targets are i64; those of ", spec.name, " are ",
        spec.target_dtype);
}

Shape batched(int64_t count, const Shape& sample) {
  Shape shape{count};
  for (const int64_t extent : sample) shape.push_back(extent);
  return shape;
}

std::byte* row(const Tensor& tensor, int64_t index, int64_t nbytes) {
  return static_cast<std::byte*>(tensor.raw()) + index * nbytes;
}

/// So many bad samples in a row mean that more is wrong than some samples.
constexpr int64_t kMostReplacements = 100;

}  // namespace

Loader::Loader(const DataSource& source, const Sampler& sampler, const AugmentOptions& augment,
               const LoaderOptions& options)
    : source_(source),
      sampler_(sampler),
      augment_(augment),
      options_(options),
      own_workspace_(make_workspace()) {
  check_options(options);
  check_bad_samples(options.bad_samples, source.spec());
  check(sampler.size() <= source.size(), "Loader", "the sampler is for ", sampler.size(), " samples, but ",
        source.spec().name, " holds ", source.size());
  options_.prefetch = std::max(options.prefetch, options.threads);
  try {
    for (int i = 0; i < options.threads; ++i) {
      threads_.push_back(start_thread("loader", [this, i] { run_worker(i); }));
    }
  } catch (...) {
    stop();
    throw;
  }
}

Loader::~Loader() {
  stop();
}

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::submit(const std::vector<BatchRequest>& requests) {
  for (const BatchRequest& request : requests) {
    check(request.epoch >= 0 && request.first >= 0 && request.count >= 1 &&
              request.count <= sampler_.size() - request.first,
          "Loader", "cannot load ", request.count, " samples from position ", request.first, " of epoch ",
          request.epoch, ": an epoch has ", sampler_.size(), " samples");
  }
  {
    const std::lock_guard lock(mutex_);
    for (const BatchRequest& request : requests) jobs_.emplace_back(request);
  }
  work_.notify_all();
}

Batch Loader::next() {
  const profile::Span span(profile::Category::kPhase, "data");
  const auto start = std::chrono::steady_clock::now();
  check(!jobs_.empty(), "Loader", "no batch is queued; submit() comes first");
  if (threads_.empty()) {
    prepare(jobs_.front(), own_workspace_);
  } else {
    wait_for_front();
  }
  Batch batch = std::move(jobs_.front().batch);
  const std::exception_ptr error = std::move(jobs_.front().error);
  {
    const std::lock_guard lock(mutex_);
    jobs_.pop_front();
    if (started_ > 0) --started_;
  }
  work_.notify_one();
  wait_time_ += std::chrono::steady_clock::now() - start;
  if (error) std::rethrow_exception(error);
  return batch;
}

void Loader::wait_for_front() {
  std::unique_lock lock(mutex_);
  const Job& job = jobs_.front();
  if (ready_.wait_for(lock, options_.timeout, [&] { return job.done; })) return;
  const auto& [epoch, first, count] = job.batch.request;
  const int64_t prepared = job.prepared;
  throw DataError(to_text("[Loader] ", source_.spec().name, ": no batch within ",
                          std::chrono::duration<double>(options_.timeout).count(), " s: ", prepared, " of ",
                          count, " samples are ready, waiting for sample ",
                          sampler_.sample(epoch, first + std::min(prepared, count - 1)), " of epoch ",
                          epoch));
}

Loader::Workspace Loader::make_workspace() const {
  if (!source_.spec().is_image()) return {};
  return {Augmenter(augment_, source_.spec()),
          std::vector<std::byte>(static_cast<size_t>(source_.spec().nbytes()))};
}

void Loader::run_worker(int thread) {
  const profile::Scope scope(options_.recorder, to_text("loader ", thread));
  Workspace workspace = make_workspace();
  while (true) {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] {
      return stop_ || (started_ < jobs_.size() && started_ < static_cast<size_t>(options_.prefetch));
    });
    if (stop_) return;
    Job& job = jobs_[started_++];
    lock.unlock();
    prepare(job, workspace);
    lock.lock();
    job.done = true;
    ready_.notify_one();
  }
}

/// Leaves what goes wrong in the job, for next() to throw.
void Loader::prepare(Job& job, Workspace& workspace) const {
  const profile::Span span(profile::Category::kData, "samples");
  try {
    Batch& batch = job.batch;
    const auto& [epoch, first, count] = batch.request;
    batch.samples.resize(static_cast<size_t>(count));
    sampler_.samples(epoch, first, batch.samples);
    const SampleSpec& spec = source_.spec();
    batch.inputs = Tensor::empty(batched(count, spec.shape), spec.is_image() ? DType::kF32 : spec.dtype);
    batch.targets = Tensor::empty(batched(count, spec.target_shape), spec.target_dtype);
    for (int64_t place = 0; place < count && !stop_; ++place) read_sample(job, place, workspace);
  } catch (...) {
    job.error = std::current_exception();
  }
}

void Loader::read_sample(Job& job, int64_t place, Workspace& workspace) const {
  const SampleSpec& spec = source_.spec();
  Batch& batch = job.batch;
  const int64_t sample = batch.samples[static_cast<size_t>(place)];
  const int64_t epoch = batch.request.epoch;
  SampleRequest request;
  request.index = sample;
  request.input = spec.is_image() ? workspace.image.data() : row(batch.inputs, place, spec.nbytes());
  request.target = row(batch.targets, place, spec.target_nbytes());
  request.framing = {augment_.framing, augment_.seed, epoch, sample};
  read_or_make_up(job, request);
  if (spec.is_image()) {
    workspace.augmenter->apply(request.input, epoch, sample,
                               batch.inputs.data<float>() + place * spec.shape.count());
  }
  job.prepared.store(place + 1, std::memory_order_relaxed);
}

void Loader::read_or_make_up(Job& job, const SampleRequest& request) const {
  try {
    source_.read(request);
    check_targets(source_.spec(), request);
  } catch (const BadSample& error) {
    if (options_.bad_samples == BadSamples::kStop) throw;
    warn_once(request.index, error);
    ++job.batch.bad_samples;
    options_.bad_samples == BadSamples::kReplace ? replace(request) : leave_out(request);
  }
}

/// A pure function of the data, so that all ranks and runs take the same replacement.
void Loader::replace(const SampleRequest& request) const {
  SampleRequest other = request;
  for (int64_t i = 1; i <= kMostReplacements; ++i) {
    other.index = (request.index + i) % sampler_.size();
    try {
      source_.read(other);
      check_targets(source_.spec(), other);
      return;
    } catch (const BadSample& error) {
      warn_once(other.index, error);
    }
  }
  throw DataError(to_text("[Loader] ", source_.spec().name, ": sample ", request.index, " and the ",
                          kMostReplacements, " after it cannot be read"));
}

void Loader::leave_out(const SampleRequest& request) const {
  const SampleSpec& spec = source_.spec();
  std::memset(request.input, 0, static_cast<size_t>(spec.nbytes()));
  const auto targets = static_cast<size_t>(spec.target_shape.count());
  std::fill_n(reinterpret_cast<int64_t*>(request.target), targets, kIgnoredTarget);
}

void Loader::warn_once(int64_t sample, const BadSample& error) const {
  {
    const std::lock_guard lock(bad_mutex_);
    if (!known_bad_.insert(sample).second) return;
  }
  const bool replaced = options_.bad_samples == BadSamples::kReplace;
  log::warning(error.what(), replaced ? "; another sample takes its place" : "; it is left out");
}

}  // namespace lockstep::data

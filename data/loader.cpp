#include "data/loader.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::data {

namespace {

void check_options(const LoaderOptions& options) {
  check(options.threads >= 0, "Loader", "threads: expected 0 or more, got ", options.threads);
  check(options.prefetch >= 1, "Loader", "prefetch: expected 1 or more, got ", options.prefetch);
  check(options.timeout.count() > 0, "Loader", "timeout: expected a positive time, got ",
        options.timeout.count(), " ns");
}

}  // namespace

Loader::Loader(const DataSource& source, const Sampler& sampler, const AugmentOptions& augment,
               const LoaderOptions& options)
    : source_(source),
      sampler_(sampler),
      augment_(augment),
      options_(options),
      own_workspace_(make_workspace()) {
  check_options(options);
  check(sampler.size() <= source.size(), "Loader", "the sampler is for ", sampler.size(), " samples, but ",
        source.spec().name, " holds ", source.size());
  options_.prefetch = std::max(options.prefetch, options.threads);
  try {
    for (int i = 0; i < options.threads; ++i) {
      threads_.push_back(start_thread("loader", [this] { run_worker(); }));
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
  return {Augmenter(augment_, source_.spec()),
          std::vector<std::byte>(static_cast<size_t>(source_.spec().nbytes()))};
}

void Loader::run_worker() {
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
  try {
    Batch& batch = job.batch;
    const auto& [epoch, first, count] = batch.request;
    batch.samples.resize(static_cast<size_t>(count));
    sampler_.samples(epoch, first, batch.samples);
    const Shape& image = source_.spec().shape;
    batch.inputs = Tensor::empty({count, image[0], image[1], image[2]});
    batch.targets = Tensor::empty({count}, DType::kI64);
    for (int64_t place = 0; place < count && !stop_; ++place) read_sample(job, place, workspace);
  } catch (...) {
    job.error = std::current_exception();
  }
}

void Loader::read_sample(Job& job, int64_t place, Workspace& workspace) const {
  const SampleSpec& spec = source_.spec();
  Batch& batch = job.batch;
  const int64_t sample = batch.samples[static_cast<size_t>(place)];
  const int64_t label = source_.read(sample, workspace.image.data());
  check<DataError>(label >= 0 && label < spec.classes, "Loader", spec.name, ": label of sample ", sample,
                   ": expected 0 to ", spec.classes - 1, ", got ", label);
  workspace.augmenter.apply(workspace.image.data(), batch.request.epoch, sample,
                            batch.inputs.data<float>() + place * spec.shape.count());
  batch.targets.data<int64_t>()[place] = label;
  job.prepared.store(place + 1, std::memory_order_relaxed);
}

}  // namespace lockstep::data

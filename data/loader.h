// Batches ready for the model, prepared ahead of time by threads of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "data/augment.h"
#include "data/sampler.h"
#include "data/source.h"
#include "runtime/profile.h"
#include "runtime/tensor.h"

namespace lockstep::data {

/// Positions [first, first + count) of an epoch's order.
struct BatchRequest {
  int64_t epoch = 0;
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const BatchRequest&) const = default;
};

struct Batch {
  Tensor inputs;   ///< images: f32 [count, channels, height, width]; others: [count, the source's shape]
  Tensor targets;  ///< [count, the source's target shape]
  BatchRequest request;
  int64_t bad_samples = 0;       ///< of these, how many were replaced or left out
  std::vector<int64_t> samples;  ///< which samples these are, in order
};

/// What to do with a sample that cannot be read.
enum class BadSamples {
  kStop,     ///< next() throws
  kReplace,  ///< the next one of the source that can be read takes its place, in batches that stay full
  kLeaveOut  ///< it becomes zeros with the target kIgnoredTarget, which takes no part in loss and metrics
};

struct LoaderOptions {
  /// Threads that prepare batches; each works on a batch of its own. 0: next() does it itself, nothing is
  /// read ahead.
  int threads = 1;
  /// Batches that may be in preparation or waiting at once, at least one per thread. More hide slower samples
  /// now and then; each costs a batch of memory.
  int prefetch = 2;
  /// How long next() waits for the threads before it throws.
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  /// Each bad sample is named in a warning, once.
  BadSamples bad_samples = BadSamples::kStop;
  /// Gets what the threads do, in lanes "loader 0", ...; must outlive the loader. Null: nobody looks.
  profile::Recorder* recorder = nullptr;
};

/// What a batch holds depends on its request alone: not on threads, on other requests, or on when it is made.
/// To resume in the middle of an epoch, submit what is left of it. submit(), next() and wait_time() belong to
/// one thread.
class Loader {
 public:
  /// Source and sampler must outlive the loader; a sampler of fewer samples than the source takes the first
  /// ones. Throws InvalidArgument when they do not fit each other or the options.
  Loader(const DataSource& source, const Sampler& sampler, const AugmentOptions& augment,
         const LoaderOptions& options = {});
  /// Ends the threads after the sample that each is at, whatever is still queued.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Queues what next() shall deliver, in this order, after what is queued already.
  void submit(const std::vector<BatchRequest>& requests);
  /// The next batch in the order of submission. Rethrows what the source threw for that batch (which counts
  /// as delivered). Throws DataError when the threads take longer than the timeout, InvalidArgument when
  /// nothing is queued.
  Batch next();
  /// The time that next() has taken altogether, waiting or, without threads, working.
  std::chrono::nanoseconds wait_time() const { return wait_time_; }

 private:
  struct Job {
    explicit Job(const BatchRequest& asked) { batch.request = asked; }
    Batch batch;
    std::exception_ptr error;
    bool done = false;                 ///< under the mutex
    std::atomic<int64_t> prepared{0};  ///< samples, for messages
  };
  /// What a thread that prepares batches keeps.
  struct Workspace {
    std::optional<Augmenter> augmenter;  ///< of images
    std::vector<std::byte> image;
  };

  Workspace make_workspace() const;
  void stop();
  void run_worker(int thread);
  void prepare(Job& job, Workspace& workspace) const;
  void read_sample(Job& job, int64_t place, Workspace& workspace) const;
  void read_or_make_up(Job& job, const SampleRequest& request) const;
  void replace(const SampleRequest& request) const;
  void leave_out(const SampleRequest& request) const;
  void warn_once(int64_t sample, const BadSample& error) const;
  void wait_for_front();

  const DataSource& source_;
  const Sampler& sampler_;
  AugmentOptions augment_;
  LoaderOptions options_;
  Workspace own_workspace_;  ///< of next(), when there are no threads

  std::mutex mutex_;
  std::condition_variable work_;   ///< a job may be started, or all shall stop
  std::condition_variable ready_;  ///< a job is done
  std::deque<Job> jobs_;  ///< in the order of submission; references stay valid while the ends change
  size_t started_ = 0;    ///< jobs at the front of the queue that a thread has taken
  std::atomic<bool> stop_{false};
  std::chrono::nanoseconds wait_time_{0};
  mutable std::mutex bad_mutex_;
  mutable std::set<int64_t> known_bad_;  ///< samples that a warning has named
  std::vector<std::thread> threads_;
};

}  // namespace lockstep::data

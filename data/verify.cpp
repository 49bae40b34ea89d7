#include "data/verify.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::data {
namespace {

/// All of a picture: a random part as large as the whole, which no shape but the picture's own can have.
constexpr FramingOptions kWholePicture{
    .random = true, .min_area = 1, .max_area = 1, .min_aspect = 1e-9, .max_aspect = 1e9};

/// What the threads share.
struct Work {
  Work(const DataSource& data, const VerifyOptions& how) : source(data), options(how), running(how.threads) {}

  const DataSource& source;
  const VerifyOptions& options;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> checked{0};
  std::mutex mutex;
  std::condition_variable finished;
  int running;  ///< under the mutex, as all below
  Verification result;
};

/// A thread meets its samples in rising order: what it keeps are the first ones.
void keep(std::vector<Fault>& faults, int64_t most, int64_t sample, const char* text) {
  if (static_cast<int64_t>(faults.size()) < most) faults.push_back({sample, text});
}

void read_samples(Work& work) {
  const SampleSpec& spec = work.source.spec();
  std::vector<std::byte> input(static_cast<size_t>(spec.nbytes()));
  std::vector<std::byte> target(static_cast<size_t>(spec.target_nbytes()));
  std::vector<Fault> faults;
  int64_t faulty = 0;
  for (int64_t sample = work.next++; sample < work.source.size(); sample = work.next++) {
    const SampleRequest request{sample, input.data(), target.data(), {kWholePicture, 0, 0, sample}};
    try {
      work.source.read(request);
      check_targets(spec, request);
    } catch (const std::exception& error) {
      ++faulty;
      keep(faults, work.options.most_faults, sample, error.what());
    }
    work.checked.fetch_add(1, std::memory_order_relaxed);
  }
  {
    const std::lock_guard lock(work.mutex);
    work.result.faulty += faulty;
    work.result.faults.insert(work.result.faults.end(), faults.begin(), faults.end());
    --work.running;
  }
  work.finished.notify_one();
}

void wait_for(Work& work) {
  std::unique_lock lock(work.mutex);
  const auto done = [&] { return work.running == 0; };
  while (!work.finished.wait_for(lock, work.options.progress_interval, done)) {
    lock.unlock();
    if (work.options.progress) work.options.progress(work.checked);
    lock.lock();
  }
}

}  // namespace

Verification verify(const DataSource& source, const VerifyOptions& options) {
  check(options.threads >= 1, "verify", "threads: expected 1 or more, got ", options.threads);
  check(options.most_faults >= 0, "verify", "faults to keep: expected 0 or more, got ", options.most_faults);
  Work work(source, options);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.push_back(start_thread("verify", [&work] { read_samples(work); }));
  }
  wait_for(work);
  for (std::thread& thread : threads) thread.join();
  std::vector<Fault>& faults = work.result.faults;
  std::sort(faults.begin(), faults.end(),
            [](const Fault& left, const Fault& right) { return left.sample < right.sample; });
  faults.resize(std::min(faults.size(), static_cast<size_t>(options.most_faults)));
  work.result.samples = source.size();
  return std::move(work.result);
}

}  // namespace lockstep::data

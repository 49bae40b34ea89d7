#include "runtime/threads.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "runtime/error.h"
#include "runtime/log.h"

namespace lockstep {

namespace {

/// Blocks all signals of the calling thread while it lives; a thread started meanwhile inherits the blocked
/// mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t previous_{};
};

}  // namespace

int allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  // The call fails on machines with more cores than the set has bits.
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return CPU_COUNT(&cores);
}

int resolve_threads(int requested, int environment_threads, int cores, int local_ranks) {
  if (requested > 0) return requested;
  if (environment_threads > 0) return environment_threads;
  return std::max(1, cores / std::max(1, local_ranks));
}

void configure_compute_threads(int threads) {
  check(threads > 0, "configure_compute_threads", "expected at least one thread, got ", threads);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  // The team outlives this region, and so does each member's control word.
#pragma omp parallel
  set_floating_point_control();
}

std::thread start_thread(const std::string& name, std::function<void()> body) {
  constexpr size_t kLongestName = 15;  // what Linux keeps of a thread's name
  const BlockedSignals blocked;
  return std::thread(
      [name = name.substr(0, kLongestName), prefix = log::thread_prefix(), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.c_str());
        log::set_thread_prefix(prefix);
        set_floating_point_control();
        body();
      });
}

void run_parts(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body) {
  if (count <= 0) return;
  const int64_t parts = std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, omp_get_max_threads());
  if (parts == 1) {
    body(0, count);
    return;
  }
  const int64_t length = count / parts;
  const int64_t longer_parts = count % parts;
  // The whole team takes part even if there are fewer parts: a smaller team would end threads only to start
  // them again.
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = part * length + std::min(part, longer_parts);
    body(begin, begin + length + (part < longer_parts ? 1 : 0));
  }
}

}  // namespace lockstep

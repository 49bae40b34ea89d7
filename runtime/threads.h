// Threads: how many, and in which state. Every thread that computes has the same floating-point control word,
// since flushing subnormals on one thread and not on another would change bits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace lockstep {

/// Cores that this process may use (its affinity mask).
int allowed_cores();

/// Threads per rank: `requested` if it is positive; else OMP_NUM_THREADS (`environment_threads`, 0 if unset);
/// else the allowed cores divided among the ranks that share them, at least 1.
int resolve_threads(int requested, int environment_threads, int cores, int local_ranks);

/// Round to nearest, flush subnormals to zero (FTZ, DAZ), on the calling thread.
void set_floating_point_control();

/// Sets the calling thread's OpenMP team to `threads`, every member under set_floating_point_control().
void configure_compute_threads(int threads);

/// A thread with a name, the floating-point control word set and all signals blocked. An exception that
/// leaves `body` terminates the process: bodies catch and hand over their own.
std::thread start_thread(const std::string& name, std::function<void()> body);

/// What parallel_for() calls.
void run_parts(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

/// Runs body(begin, end) over parts of [0, count) on the OpenMP team; a part has at least `grain` items, and
/// parts depend on count, grain and the number of threads alone. The body must not throw. Allocates nothing.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  // By reference: a std::function that holds more than two pointers takes them to the heap.
  run_parts(count, grain, std::cref(body));
}

}  // namespace lockstep

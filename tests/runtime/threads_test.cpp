#include "runtime/threads.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <csignal>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/log.h"

namespace lockstep {
namespace {

using Part = std::pair<int64_t, int64_t>;

/// The parts that parallel_for makes, in order.
std::vector<Part> parts_of(int64_t count, int64_t grain) {
  std::mutex mutex;
  std::vector<Part> parts;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    parts.emplace_back(begin, end);
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// Bits of a product that is subnormal, and of a sum with a subnormal operand.
std::pair<uint32_t, uint32_t> subnormal_arithmetic() {
  volatile float smallest_normal = std::numeric_limits<float>::min();
  volatile float subnormal = std::numeric_limits<float>::denorm_min();
  const float product = smallest_normal * 0.5F;
  const float sum = subnormal + 0.0F;
  return {std::bit_cast<uint32_t>(product), std::bit_cast<uint32_t>(sum)};
}

TEST(Threads, ExplicitNumberWins) {
  EXPECT_EQ(resolve_threads(3, 8, 16, 2), 3);
  EXPECT_EQ(resolve_threads(0, 8, 16, 2), 8);
  EXPECT_EQ(resolve_threads(0, 0, 16, 3), 5);
  EXPECT_EQ(resolve_threads(0, 0, 2, 8), 1);
  EXPECT_EQ(resolve_threads(0, 0, 4, 0), 4);
}

TEST(Threads, AllowedCoresFollowTheAffinityMask) {
  EXPECT_GE(allowed_cores(), 1);
  int cores = 0;
  start_thread("pinned", [&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof(one), &one);
    cores = allowed_cores();
  }).join();
  EXPECT_EQ(cores, 1);
}

// Flushing on one thread and not on another would change bits with the thread that happens to do the work.
TEST(Threads, SubnormalArithmeticIsTheSameOnEveryThread) {
  constexpr int kThreads = 3;
  configure_compute_threads(kThreads);
  const auto expected = subnormal_arithmetic();
  std::vector<std::pair<uint32_t, uint32_t>> team(kThreads, {~0U, ~0U});
#pragma omp parallel
  team[static_cast<size_t>(omp_get_thread_num())] = subnormal_arithmetic();
  for (const auto& member : team) EXPECT_EQ(member, expected);

  std::pair<uint32_t, uint32_t> started{~0U, ~0U};
  start_thread("progress", [&] { started = subnormal_arithmetic(); }).join();
  EXPECT_EQ(started, expected);
}

TEST(Threads, TeamHasTheConfiguredSize) {
  for (const int threads : {3, 1, 2}) {
    configure_compute_threads(threads);
    std::atomic<int> members = 0;
#pragma omp parallel
    ++members;
    EXPECT_EQ(members, threads);
  }
  EXPECT_THROW(configure_compute_threads(0), InvalidArgument);
}

TEST(Threads, StartedThreadHasItsNameShortenedToTheSystemsLimit) {
  char name[32] = {};
  start_thread("progress of rank 12", [&] { pthread_getname_np(pthread_self(), name, sizeof(name)); }).join();
  EXPECT_STREQ(name, "progress of ran");
}

TEST(Threads, StartedThreadBlocksSignalsAndTheCallerDoesNot) {
  sigset_t inside;
  sigemptyset(&inside);
  start_thread("signals", [&] { pthread_sigmask(SIG_BLOCK, nullptr, &inside); }).join();
  sigset_t outside;
  pthread_sigmask(SIG_BLOCK, nullptr, &outside);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&outside, signal), 0) << signal;
  }
}

TEST(Threads, StartedThreadInheritsTheLogPrefix) {
  log::set_thread_prefix("rank 5: ");
  std::string grandchild;
  start_thread("child", [&] {
    start_thread("grandchild", [&] { grandchild = log::thread_prefix(); }).join();
  }).join();
  log::set_thread_prefix("");
  EXPECT_EQ(grandchild, "rank 5: ");
}

TEST(ParallelFor, PartsCoverTheRangeOnce) {
  configure_compute_threads(4);
  EXPECT_EQ(parts_of(10, 1), (std::vector<Part>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(parts_of(4, 1), (std::vector<Part>{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST(ParallelFor, PartsAreNoSmallerThanTheGrain) {
  configure_compute_threads(4);
  EXPECT_EQ(parts_of(11, 5), (std::vector<Part>{{0, 6}, {6, 11}}));
  EXPECT_EQ(parts_of(9, 5), (std::vector<Part>{{0, 9}}));
  EXPECT_EQ(parts_of(2, 0), (std::vector<Part>{{0, 1}, {1, 2}}));
}

TEST(ParallelFor, NothingToDoMeansNoCall) {
  EXPECT_TRUE(parts_of(0, 1).empty());
}

TEST(ParallelFor, OnePartRunsOnTheCallingThread) {
  configure_compute_threads(4);
  std::thread::id runner;
  parallel_for(100, 100, [&](int64_t, int64_t) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(ParallelFor, PartsStayTheSameInsideAnotherRegion) {
  configure_compute_threads(2);
  const std::vector<Part> expected = parts_of(8, 1);
  std::vector<std::vector<Part>> nested(2);
  parallel_for(2, 1, [&](int64_t begin, int64_t) { nested[static_cast<size_t>(begin)] = parts_of(8, 1); });
  EXPECT_EQ(nested[0], expected);
  EXPECT_EQ(nested[1], expected);
}

}  // namespace
}  // namespace lockstep

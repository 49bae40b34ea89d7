#include "train/machine_peaks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "runtime/error.h"
#include "runtime/threads.h"
#include "train/cpu/peak_kernels.h"

namespace lockstep::train {
namespace {

using Clock = std::chrono::steady_clock;
using Array = std::unique_ptr<float, decltype(&std::free)>;

constexpr auto kTime = std::chrono::milliseconds(100);  // per peak
constexpr int64_t kRounds = 200'000;                    // about a millisecond
constexpr int64_t kLeastArrayBytes = int64_t{32} << 20;
constexpr int64_t kMostArrayBytes = int64_t{128} << 20;  // hosts with many ranks have to have room for all

Array make_array(int64_t nbytes) {
  Array array(static_cast<float*>(std::aligned_alloc(cpu::kAlignment, static_cast<size_t>(nbytes))),
              &std::free);
  check<Error>(array != nullptr, "profile", "no memory to measure the memory's bandwidth: ", nbytes,
               " bytes");
  return array;
}

/// Each as large as the last-level cache, where it is of an ordinary size.
int64_t array_bytes() {
  const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(cache, kLeastArrayBytes, kMostArrayBytes) / cpu::kAlignment * cpu::kAlignment;
}

/// The best of what `run` does per second, `amount` at a time; all ranks begin together.
template <class Run>
double best_rate(comm::Communicator& communicator, double amount, const Run& run) {
  run();  // threads wake up, pages are mapped
  communicator.barrier({.label = "measurement of the machine's peaks"});
  double best = 0;
  const auto end = Clock::now() + kTime;
  for (auto now = Clock::now(); now < end;) {
    run();
    const auto after = Clock::now();
    best = std::max(best, amount / std::chrono::duration<double>(after - now).count());
    now = after;
  }
  return best;
}

}  // namespace

MachinePeaks measure_peaks(comm::Communicator& communicator, int threads) {
  const cpu::PeakKernels& kernels = cpu::peak_kernels();
  MachinePeaks peaks;
  peaks.instructions = kernels.name;
  std::vector<float> results(static_cast<size_t>(threads));
  peaks.flops = best_rate(communicator, kernels.operations_per_round * kRounds * threads, [&] {
    parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) results[static_cast<size_t>(i)] = kernels.multiply_add(kRounds);
    });
  });

  const int64_t nbytes = array_bytes();
  const Array a = make_array(nbytes);
  const Array b = make_array(nbytes);
  const Array sum = make_array(nbytes);
  const int64_t blocks = nbytes / (cpu::kStreamBlock * static_cast<int64_t>(sizeof(float)));
  const auto over_blocks = [&](const auto& body) {
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      body(begin * cpu::kStreamBlock, (end - begin) * cpu::kStreamBlock);
    });
  };
  over_blocks([&](int64_t first, int64_t count) {  // by the threads that will read them
    std::fill_n(a.get() + first, count, results[0]);
    std::fill_n(b.get() + first, count, 1.0F);
  });
  peaks.bandwidth = best_rate(communicator, 3.0 * static_cast<double>(nbytes), [&] {
    over_blocks([&](int64_t first, int64_t count) {
      kernels.triad(a.get() + first, b.get() + first, 0.5F, sum.get() + first, count);
    });
  });
  return peaks;
}

}  // namespace lockstep::train

// What the machine can do at best, measured: the ceilings that a profile compares operations with.
#pragma once

#include <string>

#include "comm/communicator.h"

namespace lockstep::train {

/// Of one rank with all its threads, while the other ranks do the same.
struct MachinePeaks {
  double flops = 0;      ///< single-precision multiplications and additions in registers, per second
  double bandwidth = 0;  ///< bytes per second that a[i] = b[i] + s c[i] reads and writes, beyond the caches
  std::string instructions;  ///< that the first was reached with: "AVX-512", say
};

/// Collective. Takes about a quarter of a second, and memory of three times the last-level cache (96
/// to 384 MiB). The bandwidth is that of McCalpin's STREAM triad with stores past the caches ("Memory
/// bandwidth and machine balance in current high performance computers", IEEE TCCA newsletter, 1995).
MachinePeaks measure_peaks(comm::Communicator& communicator, int threads);

}  // namespace lockstep::train

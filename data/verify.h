// Reads a whole data set once and says which samples cannot be had.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/source.h"

namespace lockstep::data {

struct VerifyOptions {
  int threads = 1;  ///< at least 1
  /// Faults that are kept, the first by sample; all are counted.
  int64_t most_faults = 1000;
  /// Called now and then by the thread that called verify(), with the number of samples read so far.
  std::function<void(int64_t checked)> progress = {};
  std::chrono::nanoseconds progress_interval = std::chrono::seconds(1);
};

struct Fault {
  int64_t sample = 0;
  std::string text;
  bool operator==(const Fault&) const = default;
};

struct Verification {
  int64_t samples = 0;  ///< read
  int64_t faulty = 0;
  std::vector<Fault> faults;  ///< in order of samples, the same whatever the number of threads
};

/// Reads every sample, pictures in full, and checks its labels. Memory does not grow with the source.
Verification verify(const DataSource& source, const VerifyOptions& options = {});

}  // namespace lockstep::data

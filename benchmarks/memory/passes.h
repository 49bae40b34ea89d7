// The passes over memory that a training step makes beside its large operations, and the plain loops that
// they are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep::benchmarks {

struct Pass {
  const char* name;
  /// The plain loop that reads and writes memory in the same way; empty for such a loop itself.
  const char* limit;
  /// Read and written per element, each once. What a cache fetches only to overwrite it does not count.
  int bytes;
  /// What to time, on `count` elements of its own.
  std::function<std::function<void()>(int64_t count)> make;
};

/// The plain loops come first.
std::vector<Pass> memory_passes();

}  // namespace lockstep::benchmarks

// How much memory this process holds, as the kernel counts it.
#pragma once

#include <cstdint>

namespace lockstep {

struct ProcessMemory {
  int64_t resident = 0;  ///< bytes in memory now (VmRSS)
  int64_t peak = 0;      ///< the most that it ever was (VmHWM), of this program: exec begins it anew
};

/// Reads /proc/self/status, some 20 µs; zeros where there is none.
ProcessMemory process_memory();

}  // namespace lockstep

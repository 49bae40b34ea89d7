#include "runtime/process_memory.h"

#include <fstream>
#include <string>

namespace lockstep {

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr int64_t kKibibyte = 1024;  // which the file calls kB
    if (line.starts_with("VmHWM:")) memory.peak = std::stoll(line.substr(6)) * kKibibyte;
    if (!line.starts_with("VmRSS:")) continue;
    memory.resident = std::stoll(line.substr(6)) * kKibibyte;
    break;  // behind VmHWM
  }
  return memory;
}

}  // namespace lockstep

#include "runtime/cpu_name.h"

#include <fstream>

namespace lockstep {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "an unknown CPU";
}

}  // namespace lockstep

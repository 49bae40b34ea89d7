// What measurements are measured on.
#pragma once

#include <string>

namespace lockstep {

/// The model name in /proc/cpuinfo; "an unknown CPU" where it has none.
std::string cpu_name();

}  // namespace lockstep

// Which kernels compute: part of what decides about bits, so ranks compare it.
#pragma once

#include <string>

namespace lockstep::ops {

/// "oneDNN 2.6.3 (avx512_core_vnni)": version and the instruction set that it chose for this processor.
std::string library_version();

/// The instruction set alone.
std::string instruction_set();

}  // namespace lockstep::ops

#include "runtime/wide_vectors.h"

namespace lockstep {

// The features that cmake/compiler.cmake names. The compiler's library has asked the system, too, whether it
// saves the wide registers.
bool has_wide_vectors() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

}  // namespace lockstep

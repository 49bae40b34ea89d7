#include <pmmintrin.h>

#include "runtime/threads.h"

namespace lockstep {

// The whole word is written, so that no thread keeps a bit that another one lacks.
void set_floating_point_control() {
  _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_NEAREST | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
}

}  // namespace lockstep

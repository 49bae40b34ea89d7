// Loops in two versions: as the whole build is compiled (LOCKSTEP_ARCH), and in the widest vectors that the
// compiler knows of. The processor's feature bits choose at run time, never its name.
//
//     parallel_for_wide(count, kGrain, [=](int64_t begin, int64_t end) {
//       for (int64_t i = begin; i < end; ++i) y[i] = functor.value(x[i]);
//     });
//
// Both versions give the same bits: nothing is contracted, and no sum is reordered to fit a vector. So only
// loops profit whose iterations are independent, and of these only the ones that compute much per element
// (exponentials, random bits, divisions): measured on Zen 4, 512 bits give exp, tanh and GELU 1.5 times the
// speed of 256, while a loop of loads, a few additions and stores is as fast or up to a tenth slower.
//
// Everything that the loop calls is inlined into it, and what cannot be inlined runs as compiled elsewhere:
// call functions whose definition is at hand, of plain arithmetic. For .cpp files alone, not for device code.
#pragma once

#include <cstdint>

#include "build_config.h"
#include "runtime/threads.h"

namespace lockstep {

/// Whether this processor and its operating system can run what LOCKSTEP_WIDE_VECTORS marks.
bool has_wide_vectors();

/// loop(arguments...), compiled for wide vectors. The loop is copied, so that what it captured cannot overlap
/// what it writes.
template <class Loop, class... Arguments>
LOCKSTEP_WIDE_VECTORS void run_in_wide_vectors(const Loop loop, const Arguments... arguments) {
  loop(arguments...);
}

/// loop(arguments...) in the version for this processor.
template <class Loop, class... Arguments>
void with_wide_vectors(const Loop& loop, const Arguments&... arguments) {
  if (has_wide_vectors()) {
    run_in_wide_vectors(loop, arguments...);
  } else {
    loop(arguments...);
  }
}

/// parallel_for() whose loop(begin, end) runs in the version for this processor.
template <class Loop>
void parallel_for_wide(int64_t count, int64_t grain, const Loop& loop) {
  parallel_for(count, grain, [&](int64_t begin, int64_t end) { with_wide_vectors(loop, begin, end); });
}

}  // namespace lockstep

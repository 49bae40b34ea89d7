// Recursive doubling, with the partners in tree order: the fewest rounds in which whole buffers can be summed
// two at a time (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 2005).
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// For R a power of two: in round k a rank exchanges all of its sum so far with rank ^ 2^k and adds, the
/// lower rank's on the left, so that both form the same node of the tree. log2 R rounds, log2 R times the
/// buffer sent. Any other R, and a scatter: direct up to one chunk, owner_exchange above.
Plan recursive_doubling(const ReductionShape& shape);

}  // namespace lockstep::comm

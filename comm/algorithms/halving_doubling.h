// Recursive halving and doubling (Rabenseifner, "Optimization of collective reduction operations", ICCS
// 2004), with the partners in tree order.
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// For R a power of two: in round k a rank exchanges halves of what it still holds with rank ^ 2^k and adds,
/// so that each addition is one node of the tree; then the same way back with results. 2 log2 R rounds,
/// 2(R-1)/R times the buffer sent. Any other R, and a scatter: owner_exchange.
Plan halving_doubling(const ReductionShape& shape);

}  // namespace lockstep::comm

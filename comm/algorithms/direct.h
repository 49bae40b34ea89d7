// Everybody gets everything and sums for itself: the oracle that the other algorithms are tested against.
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// One round; a rank sends each of its operands whole to every other. Tree order.
Plan direct(const ReductionShape& shape);

}  // namespace lockstep::comm

// The bandwidth-optimal ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009).
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// Chunk q starts at rank q + 1 and goes once around, each rank adding its own, and ends at rank q; a scatter
/// stops there, otherwise results go around once more. 2(R-1) rounds, 2(R-1)/R times the buffer sent. Its
/// order of summation depends on R.
Plan ring(const ReductionShape& shape);

}  // namespace lockstep::comm

// Plans of the collectives that move data without arithmetic.
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// Operand 0 (`count` elements) to its place in everybody's result; each rank sends to each: 1 round, (R-1) *
/// count.
Plan all_gather(int rank, int size, int64_t count);

struct BroadcastShape {
  int rank = 0;
  int size = 1;
  int root = 0;
  int64_t count = 0;
  int64_t chunk_count = 1;  ///< elements per message, so that a rank passes on one while the next arrives
};

/// The root's result to everybody's, along a binomial tree: ceil(log2 R) rounds, a rank sends at most that
/// many copies.
Plan broadcast(const BroadcastShape& shape);

/// One byte from each to each: not the fewest messages, but every rank knows exactly who has not come.
Plan barrier(int rank, int size);

}  // namespace lockstep::comm

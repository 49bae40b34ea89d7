// Shared memory within nodes, messages across them.
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// Each rank of a node sums its share of the elements straight out of the memory of the node's ranks, in tree
/// order, exchanges it with the ranks of the same number in other nodes (halving/doubling where each node
/// holds one subtree and their number is a power of two, else owner_exchange), and writes the result into the
/// memory of the node's ranks. So with L ranks a node, N nodes and halving/doubling a rank sends
/// 2(N-1)/N of a 1/L share, and all ranks of a node send at the same time; on one node no element is sent at
/// all. All buffers must be in shared memory. A scatter: owner_exchange.
Plan hierarchical(const ReductionShape& shape);

}  // namespace lockstep::comm

// The two-dimensional torus (Mikami et al., "Massively Distributed SGD: ImageNet/ResNet-50 Training in a
// Flash", 2018, section 2.2).
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// Ranks form Y rows of X neighbours: X is the number of ranks a node if that is above 1, else the greatest
/// divisor of R up to its root. A ring reduce-scatter along the row, a ring all-reduce along the column on
/// the share of 1/X, and an all-gather along the row: 2(X-1) + 2(Y-1) rounds instead of a ring's 2(R-1), and
/// 2(X-1)/X + 2(Y-1)/(X Y) times the buffer sent. A prime number of ranks, and a scatter: ring.
Plan torus(const ReductionShape& shape);

}  // namespace lockstep::comm

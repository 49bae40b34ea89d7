// Reduction in tree order for any number of ranks and operands.
#pragma once

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

/// Rank q owns chunk q of the elements. Every rank sends each chunk of each of its operands to the chunk's
/// owner, who completes the tree; unless only a scatter is wanted, the owner then sends the result to all.
/// Two rounds of R - 1 messages (times operands, in the first); with one operand a rank it sends 2(R-1)/R
/// times the buffer, as few bytes as can be.
Plan owner_exchange(const ReductionShape& shape);

}  // namespace lockstep::comm

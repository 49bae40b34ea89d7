// Ranks' steady clocks on one time scale, so that events of several hosts can be shown together.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace lockstep::parallel {

/// Collective. By how much this rank's steady clock is ahead of rank 0's. Exactly 0 on rank 0's host, where
/// the clock is the same; elsewhere as precise as a barrier, some microseconds to some tens of them.
std::chrono::nanoseconds clock_offset(comm::Communicator& communicator);

/// The median of mine[i] - reference[i]: the times at which two ranks left the same barriers. Not empty.
int64_t median_difference(const std::vector<int64_t>& mine, const std::vector<int64_t>& reference);

}  // namespace lockstep::parallel

// Data whose sum over ranks is known and exact, whatever the order of summation.
#pragma once

#include <cstdint>

#include "comm/buffer.h"

namespace lockstep::launcher {

/// Rank `rank`'s elements: small integers, different for neighbouring elements and ranks. Sums of up to 128
/// ranks are exact in every type.
void fill_exact(const comm::Buffer& buffer, int rank, int ranks);

/// How many elements are not the sum over all ranks of what fill_exact() wrote.
int64_t count_wrong_sums(const comm::Buffer& buffer, int ranks);

}  // namespace lockstep::launcher

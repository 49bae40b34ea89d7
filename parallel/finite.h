// Infinities and NaN: whether there are any, in which tensor first, and which ranks brought them in.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "runtime/parameter.h"

namespace lockstep::parallel {

/// Whether no value is an infinity or NaN. One pass, on the team's threads.
bool all_finite(std::span<const float> values);

/// Where no tensor of a list is meant.
inline constexpr int64_t kNoTensor = std::numeric_limits<int64_t>::max();

/// Of parameters' values.
int64_t first_nonfinite(const std::vector<Parameter*>& parameters);

/// The first tensor of a list that is not finite somewhere.
struct NonFinite {
  int64_t tensor = kNoTensor;  ///< position in the list
  std::vector<int> ranks;      ///< that have it so, ascending; none: only the sum of all ranks has
};

/// Collective, and one small message. `mine` is the first tensor that is not finite on this rank, `summed`
/// the first in the sum over all ranks, which is the same everywhere. Every rank gets the same answer.
NonFinite find_nonfinite(comm::Communicator& communicator, int64_t mine, int64_t summed = kNoTensor);

/// "on rank 3", "on ranks 0, 1, 2, 3 and 60 more", "on all 4 ranks", "only in the sum of all ranks".
std::string place_text(const NonFinite& found, int ranks);

}  // namespace lockstep::parallel

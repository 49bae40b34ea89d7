// A fingerprint of all weights: two runs with the same one have the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/parameter.h"

namespace lockstep::train {

struct WeightsHash {
  uint64_t total = 0;                                     ///< of the tensors' hashes, in their order
  std::vector<std::pair<std::string, uint64_t>> tensors;  ///< name and hash, in the order given
};

/// XXH3 over name, dtype, shape and row-major bytes of every tensor, whatever its layout and device. One
/// byte, one name or the order changed gives another hash; -0 and +0 differ, and so do two NaNs with
/// different bits.
WeightsHash hash_weights(const std::vector<NamedTensor>& tensors);

}  // namespace lockstep::train

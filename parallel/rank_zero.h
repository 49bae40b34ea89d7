// Work that rank 0 does for all, such as reading and writing shared files. All ranks enter, and all learn how
// it went.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace lockstep::parallel {

/// Collective. Runs `work` on rank 0 while the others wait up to `timeout` (0: the communicator's), however
/// long it takes compared with other collectives. When it throws, every rank throws an error of the same kind
/// with the same text.
void on_rank_zero(comm::Communicator& communicator, const std::string& label,
                  std::chrono::milliseconds timeout, const std::function<void()>& work);

/// Collective. Every rank gets rank 0's text.
std::string broadcast_text(comm::Communicator& communicator, const std::string& text);

/// Collective. Rank 0 gets the texts of all ranks, in their order; the others get nothing.
std::vector<std::string> gather_on_rank_zero(comm::Communicator& communicator, const std::string& text,
                                             const std::string& label);

}  // namespace lockstep::parallel

// Ranks that differ would train different models or wait for each other for ever. These collective checks say
// so at once, on all ranks, and name the first difference.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "runtime/parameter.h"

namespace lockstep::parallel {

/// Something that has to be equal on all ranks: (name, value).
using Fact = std::pair<std::string, std::string>;

/// What decides about bits on this machine: processor features, cache sizes, versions of lockstep and of
/// libraries.
std::vector<Fact> machine_facts();
/// Name and shape of every parameter, in order.
std::vector<Fact> parameter_facts(const std::vector<Parameter*>& parameters);

/// Throws ConfigError on every rank when a rank's facts differ from rank 0's: "rank 1 differs from rank 0 in
/// ...". Waits up to `timeout` for ranks that come up late.
void check_facts(comm::Communicator& communicator, const std::vector<Fact>& facts,
                 std::chrono::milliseconds timeout);

/// Throws Error on every rank when a hash differs from rank 0's, naming rank, step and the first tensor.
void check_replicas(comm::Communicator& communicator,
                    const std::vector<std::pair<std::string, uint64_t>>& hashes, int64_t step);

/// Copies rank 0's values to all ranks.
void broadcast_tensors(comm::Communicator& communicator, const std::vector<Tensor>& tensors);

}  // namespace lockstep::parallel

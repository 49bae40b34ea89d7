// What can be said of plans without running them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/algorithms/plan.h"

namespace lockstep::comm::test {

/// The plans of all ranks.
std::vector<Plan> plans_of(int ranks, const std::function<Plan(int rank)>& plan);
std::vector<Plan> plans_of(Plan (*algorithm)(const ReductionShape&), ReductionShape shape);

/// "", or what is wrong: each send must have exactly one receive of the same length, tags must be unique per
/// pair and direction, dependencies must not run in circles, and a step must wait for what it would otherwise
/// trample on.
std::string check_plans(const std::vector<Plan>& plans);

int64_t elements_sent(const Plan& plan);
int64_t messages_sent(const Plan& plan);

}  // namespace lockstep::comm::test

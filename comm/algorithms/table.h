// The algorithms for reductions: one row each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "comm/algorithms/plan.h"

namespace lockstep::comm {

struct Algorithm {
  const char* name;
  bool tree_order;  ///< sums in the order of the reduction tree, so the number of ranks does not change a bit
  bool shared_memory;  ///< for buffers in shared memory alone
  Plan (*plan)(const ReductionShape& shape);
};

std::span<const Algorithm> algorithms();

/// The names of all algorithms, or of those in tree order: "direct, halving_doubling".
std::string algorithm_names(bool tree_order_only);

/// Throws InvalidArgument listing the names when there is none of that name.
const Algorithm& find_algorithm(std::string_view name);

}  // namespace lockstep::comm

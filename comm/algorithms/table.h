// The algorithms for reductions: one row each.
#pragma once

#include <cstddef>
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

/// What "auto" takes for a reduction of `nbytes`: the fastest in tree order, so the choice changes no bit.
/// `shared`: the buffers lie in memory that the ranks of a node share.
const Algorithm& automatic_algorithm(int ranks, size_t nbytes, bool shared);

/// Throws InvalidArgument listing the names when there is none of that name.
const Algorithm& find_algorithm(std::string_view name);

}  // namespace lockstep::comm

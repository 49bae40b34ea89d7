#include "comm/algorithms/table.h"

#include "comm/algorithms/direct.h"
#include "comm/algorithms/halving_doubling.h"
#include "comm/algorithms/hierarchical.h"
#include "comm/algorithms/recursive_doubling.h"
#include "comm/algorithms/ring.h"
#include "comm/algorithms/torus.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

constexpr Algorithm kAlgorithms[] = {
    {"direct", true, false, direct},
    {"halving_doubling", true, false, halving_doubling},
    {"hierarchical", true, true, hierarchical},
    {"recursive_doubling", true, false, recursive_doubling},
    {"ring", false, false, ring},
    {"torus", false, false, torus},
};

}  // namespace

std::span<const Algorithm> algorithms() {
  return kAlgorithms;
}

std::string algorithm_names(bool tree_order_only) {
  std::string names;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (tree_order_only && !algorithm.tree_order) continue;
    names += (names.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  return names;
}

const Algorithm& find_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (name == algorithm.name) return algorithm;
  }
  throw InvalidArgument(to_text("[comm.algorithm] unknown algorithm \"", name, "\": expected auto or one of ",
                                algorithm_names(false)));
}

}  // namespace lockstep::comm

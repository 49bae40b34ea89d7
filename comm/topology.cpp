#include "comm/topology.h"

#include <algorithm>

#include "runtime/error.h"

namespace lockstep::comm {

bool on_several_machines(const Topology& topology) {
  const std::vector<int>& nodes = topology.node_of_rank;
  return std::ranges::any_of(nodes, [&](int node) { return node != nodes[0]; });
}

NodeLayout node_layout(const Topology& topology) {
  const std::vector<int>& nodes = topology.node_of_rank;
  const auto size = static_cast<int>(nodes.size());
  if (size == 1) return {1, "there is one rank only"};
  const auto of_first = std::find_if(nodes.begin(), nodes.end(), [&](int node) { return node != nodes[0]; });
  const auto each = static_cast<int>(of_first - nodes.begin());
  for (int first = 0; first < size; first += each) {
    const int node = nodes[first];
    if (std::ranges::count(nodes, node) != each) {
      return {1, to_text("the machines of rank 0 and of rank ", first, " have different numbers of ranks")};
    }
    for (int rank = first; rank < first + each; ++rank) {
      if (nodes[rank] == node) continue;
      return {1,
              to_text("ranks ", first, " and ", rank, " are on different machines: ranks of a machine must ",
                      "be neighbours (mpirun --map-by slot)")};
    }
  }
  if (each == 1) return {1, "each rank has a machine of its own"};
  return {each, ""};
}

}  // namespace lockstep::comm

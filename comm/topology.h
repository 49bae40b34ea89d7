// Which ranks are on one machine.
#pragma once

#include <string>
#include <vector>

namespace lockstep::comm {

struct Topology {
  std::vector<int> node_of_rank;  ///< equal numbers: the same machine
};

bool on_several_machines(const Topology& topology);

/// How the ranks of a machine can work together.
struct NodeLayout {
  /// Ranks n * ranks_per_node .. (n + 1) * ranks_per_node - 1 are on one machine; 1 where that cannot be said
  /// for a greater number.
  int ranks_per_node = 1;
  std::string reason{};  ///< why it is 1; empty otherwise
};

NodeLayout node_layout(const Topology& topology);

}  // namespace lockstep::comm

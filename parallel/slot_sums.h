// Small sums (losses, counts, statistics) in double, added in the same tree as the gradients.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace lockstep::parallel {

/// One row of `width` numbers per slot of this rank. Not thread safe.
class SlotSums {
 public:
  /// `virtual_ranks` is the number of leaves of the tree.
  SlotSums(size_t width, int virtual_ranks, comm::Communicator& communicator);

  size_t width() const { return width_; }
  int first_slot() const { return first_slot_; }
  void reset();                     ///< every number to -0.0, the neutral element of addition
  std::span<double> row(int slot);  ///< a slot of this rank
  /// The sum of all ranks' rows; same bits on every rank and for every number of ranks. Collective. Rows are
  /// used up.
  std::vector<double> reduce(const std::string& label);

 private:
  std::span<double> sum_subtree(int level, int index);

  size_t width_;
  int virtual_ranks_;
  comm::Communicator& communicator_;
  int first_slot_;
  int last_slot_;
  std::vector<double> rows_;
};

}  // namespace lockstep::parallel

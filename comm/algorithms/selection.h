// Which algorithm reduces how many bytes.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "comm/algorithms/table.h"

namespace lockstep::comm {

/// `algorithm` takes operands of more than `begin` and at most `end` bytes; the first range also those of
/// none.
struct SizeRange {
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

  const Algorithm* algorithm = nullptr;
  size_t begin = 0;
  size_t end = kUnlimited;
};

/// Covers every size once: ranges without gap and overlap from 0 to SizeRange::kUnlimited.
class Selection {
 public:
  explicit Selection(const Algorithm& algorithm) : ranges_{{&algorithm}} {}
  /// Neighbours of one algorithm become one range.
  explicit Selection(const std::vector<SizeRange>& ranges);

  const Algorithm& choose(size_t nbytes) const;
  const std::vector<SizeRange>& ranges() const { return ranges_; }

  /// As parse_selection() reads it: "direct:0-2K;halving_doubling:2K-", or a name alone.
  std::string text() const;
  /// For people: "direct up to 2 KiB, halving_doubling above".
  std::string description() const;

 private:
  std::vector<SizeRange> ranges_;
};

/// Reads the name of an algorithm, or ranges as in "recursive_doubling:0-8K;halving_doubling:8K-": sizes of
/// one operand in bytes, of which K, M and G are 1024, 1024^2 and 1024^3; the last is open ("8K-" or
/// "8K-..."). Throws InvalidArgument that quotes the part which is wrong, or names the algorithm which does
/// not sum in tree order where `tree_order_only`.
Selection parse_selection(std::string_view text, bool tree_order_only);

/// What "auto" stands for, the fastest in tree order as measured: so it changes no bit. `ranks_per_node` is
/// above 1 where that many ranks share memory and the operands lie in it.
Selection automatic_selection(int ranks, int ranks_per_node);

}  // namespace lockstep::comm

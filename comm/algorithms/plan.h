// What one rank does to carry out a collective: sends, receives, reductions and copies, with explicit
// dependencies. A plan depends on the shape of the call alone, never on data or timing, and knows no memory:
// buffers are numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/reduction_tree.h"

namespace lockstep::comm {

inline constexpr int kResult = -1;   ///< the call's result
inline constexpr int kScratch = -2;  ///< memory of the executor, Plan::scratch_count elements

inline constexpr int kSelf = -1;

/// Elements [begin, begin + count) of operand `buffer` (>= 0), of kResult or of kScratch.
struct Region {
  int buffer = kResult;
  int64_t begin = 0;
  int64_t count = 0;
  int peer = kSelf;  ///< the rank whose memory it is; kDiscover must have told where it lies

  Region part(const Range& range) const { return {buffer, begin + range.begin, range.count(), peer}; }
};

enum class StepKind : uint8_t {
  kSend,
  kReceive,
  kReduce,
  kCopy,
  // Between ranks that reach each other's memory:
  kPublish,   ///< tells the peer where this rank's operands and result lie, which are its from now on
  kDiscover,  ///< learns that from the peer
  kSignal,    ///< an empty message: what the plan says has been done
  kAwait,
};

struct Step {
  StepKind kind = StepKind::kCopy;
  int peer = -1;  ///< of all but reductions and copies
  int tag = 0;
  Region target;  ///< of all but sends
  Region left;    ///< what is sent or copied, or the operand with the lower leaves
  Region right;
};

using StepId = int;
inline constexpr StepId kNoStep = -1;

/// Whatever is ready may run, in any order: dependencies alone say what must wait. They also bound what is in
/// flight, by making a piece wait for the kPiecesInFlight-th before it on the same rank (and never for a
/// later one).
struct Plan {
  /// Tags of a plan lie in [0, kTagEnd); a pair of ranks uses each at most once per direction.
  static constexpr int kTagEnd = 1 << 17;

  std::vector<Step> steps;
  std::vector<int> dependency_counts;  ///< per step
  std::vector<int>
      successor_offsets;  ///< successors of step s: [successor_offsets[s], successor_offsets[s + 1])
  std::vector<StepId> successors;
  int64_t scratch_count = 0;
  bool reaches_peers = false;  ///< it publishes, so all buffers of the call must be in shared memory
};

/// How the numbers of one plan translate into those of another that contains it.
struct Embedding {
  std::vector<int> ranks;  ///< of the inner plan's ranks
  int first_tag = 0;
  std::vector<Region> operands;
  Region result;
  Region scratch;  ///< at least as much as the inner plan has
};

/// Builds a plan. Steps on empty regions are left out: they return kNoStep, which as a dependency means
/// nothing.
class PlanBuilder {
 public:
  using Dependencies = std::vector<StepId>;

  StepId send(int peer, int tag, const Region& source, const Dependencies& after = {});
  StepId receive(int peer, int tag, const Region& target, const Dependencies& after = {});
  StepId copy(const Region& source, const Region& target, const Dependencies& after = {});
  /// target = left op right; target may be one of them.
  StepId reduce(const Region& left, const Region& right, const Region& target,
                const Dependencies& after = {});
  StepId publish(int peer, int tag);
  /// `buffers`: the peer's operands and its result.
  StepId discover(int peer, int tag, int buffers);
  StepId signal(int peer, int tag, const Dependencies& after);
  StepId await(int peer, int tag);
  /// A part of the scratch memory that no other call returns.
  Region scratch(int64_t count);

  /// Adds the steps of another plan, to run after `after`, and returns those that nothing in it waits for.
  Dependencies embed(const Plan& inner, const Embedding& where, const Dependencies& after);

  Plan finish();

 private:
  StepId add(const Step& step, const Dependencies& after);
  StepId add_unless_empty(const Step& step, const Dependencies& after);
  Plan plan_;
  std::vector<std::pair<StepId, StepId>> edges_;  // (earlier, later)
};

/// The shape of a reduction, the same on all ranks but for `rank`.
struct ReductionShape {
  int rank = 0;
  int size = 1;
  int64_t count = 0;
  /// Messages are cut near this many elements, so that the reduction of one overlaps the transfer of the
  /// next.
  int64_t chunk_count = 1;
  LeafLayout layout;  ///< operand i of rank r holds subtree layout.subtrees(r)[i]
  /// Ranks n * ranks_per_node .. (n + 1) * ranks_per_node - 1 reach each other's memory; divides size.
  int ranks_per_node = 1;
  bool scatter = false;  ///< only chunk_of(count, size, rank) of the result is wanted
  /// Shares of ranks end on multiples of so many elements where that makes whole cache lines and vectors; 1
  /// where every element does, as blocks do.
  int64_t alignment = 64;
};

/// Enough to keep the wire busy while a piece is reduced, few enough that their scratch memory stays in
/// cache.
inline constexpr int kPiecesInFlight = 4;

/// The number of pieces of about `chunk_count` elements that `count` is cut into, at least 1, and few enough
/// that each may use `tags_per_piece` tags.
int piece_count(int64_t count, int64_t chunk_count, int64_t tags_per_piece);

/// Piece `index` of [0, count) cut into `pieces`; all but the last non-empty one hold a multiple of `unit`
/// elements.
Range piece_of(int64_t count, int pieces, int index, int64_t unit);

}  // namespace lockstep::comm

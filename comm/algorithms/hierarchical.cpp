#include "comm/algorithms/hierarchical.h"

#include <algorithm>
#include <map>
#include <utility>

#include "comm/algorithms/halving_doubling.h"
#include "comm/algorithms/owner_exchange.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

/// The part of chunk_count that is summed at a time: operands and result together stay in the second-level
/// cache, so that the copies to the others' memory read from there.
constexpr int64_t kLocalPart = 16;

constexpr int kPublishTag = 0;
constexpr int kDoneTag = 1;
/// Of an exchange across nodes, at most: halving/doubling has 2 log2 N, owner_exchange 2 log2 T + 1.
constexpr int kTagsPerPiece = 64;

class Hierarchical {
 public:
  explicit Hierarchical(const ReductionShape& shape)
      : shape_(shape),
        ranks_(shape.ranks_per_node),
        nodes_(shape.size / shape.ranks_per_node),
        node_(shape.rank / shape.ranks_per_node),
        first_(node_ * shape.ranks_per_node),
        // Whole cache lines, which no two ranks write.
        share_(piece_of(shape.count, ranks_, shape.rank - first_, shape.alignment)) {
    ensure(shape.size % shape.ranks_per_node == 0, "hierarchical", shape.size, " ranks, ", ranks_, " a node");
    across_.leaves = shape.layout.leaves;
    for (int node = 0; node <= nodes_; ++node) across_.begin.push_back(shape.layout.begin[node * ranks_]);
    std::vector<TreeNode> subtrees;
    for (int rank = first_; rank < first_ + ranks_; ++rank) {
      const std::vector<TreeNode> of_rank = shape.layout.subtrees(rank);
      subtrees.insert(subtrees.end(), of_rank.begin(), of_rank.end());
    }
    merges_ = nodes_ == 1 ? SiblingMerges{merges_to_root(subtrees), {0}} : merge_siblings(subtrees);
    pieces_ = piece_count(share_.count(), std::max<int64_t>(1, chunk_count()), kTagsPerPiece);
  }

  Plan build() {
    for (int rank = first_; rank < first_ + ranks_; ++rank) {
      if (rank == shape_.rank) continue;
      plan_.publish(rank, kPublishTag);
      const auto operands = static_cast<int>(shape_.layout.subtrees(rank).size());
      met_.push_back(plan_.discover(rank, kPublishTag, operands + 1));
    }
    PlanBuilder::Dependencies done = met_;  // also with an empty share: a peer may free its memory once told
    for (int p = 0; p < pieces_; ++p) add_piece(p, done);
    for (int rank = first_; rank < first_ + ranks_; ++rank) {
      if (rank == shape_.rank) continue;
      plan_.signal(rank, kDoneTag, done);
      plan_.await(rank, kDoneTag);
    }
    return plan_.finish();
  }

 private:
  int64_t chunk_count() const { return nodes_ == 1 ? shape_.chunk_count / kLocalPart : shape_.chunk_count; }

  /// `done` collects the last steps of all pieces.
  void add_piece(int p, PlanBuilder::Dependencies& done) {
    const Range part = piece_of(share_.count(), pieces_, p, shape_.alignment);
    const Range piece{share_.begin + part.begin, share_.begin + part.end};
    PlanBuilder::Dependencies after = met_;
    if (p >= kPiecesInFlight) {
      const PlanBuilder::Dependencies& before = complete_[p - kPiecesInFlight];
      after.insert(after.end(), before.begin(), before.end());
    }
    std::vector<Region> sums;
    PlanBuilder::Dependencies ready{sum_node(p, piece, after, sums)};
    if (nodes_ > 1) ready = sum_nodes(p, piece, sums, ready);
    complete_.push_back(ready);
    for (int rank = first_; rank < first_ + ranks_; ++rank) {
      if (rank == shape_.rank) continue;
      Region theirs = Region{kResult}.part(piece);
      theirs.peer = rank;
      complete_.back().push_back(plan_.copy(Region{kResult}.part(piece), theirs, ready));
    }
    done.insert(done.end(), complete_.back().begin(), complete_.back().end());
  }

  /// The node's sums of a piece, one per subtree that the node holds as a whole; returns the last step. A
  /// single one goes to the result, several to scratch memory.
  StepId sum_node(int p, const Range& piece, const PlanBuilder::Dependencies& after,
                  std::vector<Region>& sums) {
    std::vector<Region> values;
    for (int rank = first_; rank < first_ + ranks_; ++rank) {
      const auto operands = static_cast<int>(shape_.layout.subtrees(rank).size());
      for (int i = 0; i < operands; ++i) {
        values.push_back(Region{i}.part(piece));
        if (rank != shape_.rank) values.back().peer = rank;
      }
    }
    StepId ready = kNoStep;
    const auto next = [&] { return ready == kNoStep ? after : PlanBuilder::Dependencies{ready}; };
    const bool single = merges_.left_over.size() == 1;
    const Region result = Region{kResult}.part(piece);
    for (const Merge& merge : merges_.merges) {
      const bool last = single && &merge == &merges_.merges.back();
      const Region sum = last ? result : scratch(p, merge.left, piece.count());
      ready = plan_.reduce(values[merge.left], values[merge.right], sum, next());
      values[merge.left] = sum;
    }
    for (const int slot : merges_.left_over) {
      const bool summed = values[slot].buffer == kScratch || single;
      const Region place = single ? result : scratch(p, slot, piece.count());
      if (!summed || merges_.merges.empty()) {
        ready = plan_.copy(values[slot], place, next());
      }
      sums.push_back(place);
    }
    return ready;
  }

  /// Completes the sums with those of the ranks of the same number in other nodes.
  PlanBuilder::Dependencies sum_nodes(int p, const Range& piece, const std::vector<Region>& sums,
                                      const PlanBuilder::Dependencies& ready) {
    ReductionShape inner;
    inner.rank = node_;
    inner.size = nodes_;
    inner.count = piece.count();
    inner.chunk_count = std::max<int64_t>(1, piece.count());
    inner.layout = across_;
    const Plan exchange = one_subtree_a_node() ? halving_doubling(inner) : owner_exchange(inner);
    Embedding where;
    for (int node = 0; node < nodes_; ++node) where.ranks.push_back(node * ranks_ + shape_.rank - first_);
    where.first_tag = p * kTagsPerPiece;
    where.operands = sums;
    where.result = Region{kResult}.part(piece);
    where.scratch = scratch(p, kExchange, exchange.scratch_count);
    return plan_.embed(exchange, where, ready);
  }

  bool one_subtree_a_node() const {
    if (!is_power_of_two(nodes_)) return false;
    for (int node = 0; node < nodes_; ++node) {
      if (across_.subtrees(node).size() != 1) return false;
    }
    return true;
  }

  /// Memory for one purpose, which pieces that are not in flight together share. The first piece is the
  /// longest.
  Region scratch(int p, int purpose, int64_t count) {
    Region& memory = scratch_[{p % kPiecesInFlight, purpose}];
    if (memory.buffer != kScratch) memory = plan_.scratch(count);
    return memory.part({0, count});
  }

  static constexpr int kExchange = -1;  // a purpose

  const ReductionShape& shape_;
  const int ranks_;  // of a node
  const int nodes_;
  const int node_;   // this rank's
  const int first_;  // rank of the node
  const Range share_;
  LeafLayout across_;  // of nodes
  SiblingMerges merges_;
  int pieces_ = 1;
  PlanBuilder plan_;
  PlanBuilder::Dependencies met_;                    // the others' memory is known
  std::vector<PlanBuilder::Dependencies> complete_;  // per piece
  std::map<std::pair<int, int>, Region> scratch_;
};

}  // namespace

Plan hierarchical(const ReductionShape& shape) {
  if (shape.scatter) return owner_exchange(shape);
  return Hierarchical(shape).build();
}

}  // namespace lockstep::comm

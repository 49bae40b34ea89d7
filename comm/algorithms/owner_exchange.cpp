#include "comm/algorithms/owner_exchange.h"

#include <algorithm>

namespace lockstep::comm {
namespace {

/// Plans the exchange piece by piece; piece p consists of the p-th part of every rank's chunk.
class OwnerExchange {
 public:
  explicit OwnerExchange(const ReductionShape& shape) : shape_(shape) {
    for (int rank = 0; rank < shape.size; ++rank) {
      operands_.push_back(shape.layout.subtrees(rank));
      most_operands_ = std::max(most_operands_, static_cast<int>(operands_.back().size()));
      subtrees_.insert(subtrees_.end(), operands_.back().begin(), operands_.back().end());
    }
    merges_ = merges_to_root(subtrees_);
    const int64_t longest_chunk = chunk_of(shape.count, shape.size, 0).count();
    pieces_ = piece_count(longest_chunk, shape.chunk_count, most_operands_ + 1);
    const int64_t longest_piece = chunk_of(longest_chunk, pieces_, 0).count();
    for (int slot = 0; slot < std::min(pieces_, kPiecesInFlight); ++slot) {
      slots_.push_back(plan_.scratch(longest_piece * static_cast<int64_t>(subtrees_.size())));
    }
  }

  Plan build() {
    for (int p = 0; p < pieces_; ++p) {
      const StepId gate = p < kPiecesInFlight ? kNoStep : reduced_[p - kPiecesInFlight];
      const std::vector<std::vector<StepId>> sent = send_operands(p, gate);
      reduced_.push_back(reduce_piece(p, gate));
      if (!shape_.scatter) exchange_results(p, sent);
    }
    return plan_.finish();
  }

 private:
  Range piece(int owner, int p) const {
    const Range chunk = chunk_of(shape_.count, shape_.size, owner);
    const Range part = chunk_of(chunk.count(), pieces_, p);
    return {chunk.begin + part.begin, chunk.begin + part.end};
  }

  int tag(int p, int message) const { return p * (most_operands_ + 1) + message; }

  std::vector<std::vector<StepId>> send_operands(int p, StepId gate) {
    std::vector<std::vector<StepId>> sent(shape_.size);
    for (int offset = 1; offset < shape_.size; ++offset) {
      const int owner = (shape_.rank + offset) % shape_.size;
      for (int i = 0; i < static_cast<int>(operands_[shape_.rank].size()); ++i) {
        sent[owner].push_back(plan_.send(owner, tag(p, i), Region{i}.part(piece(owner, p)), {gate}));
      }
    }
    return sent;
  }

  /// Collects all operands' parts of this rank's piece and sums them; own operands are summed where they lie.
  StepId reduce_piece(int p, StepId gate) {
    const Range owned = piece(shape_.rank, p);
    const Region& slot = slots_[p % kPiecesInFlight];
    std::vector<Region> values;
    std::vector<StepId> ready;
    for (int rank = 0; rank < shape_.size; ++rank) {
      for (int i = 0; i < static_cast<int>(operands_[rank].size()); ++i) {
        const int64_t begin = static_cast<int64_t>(values.size()) * owned.count();
        const bool own = rank == shape_.rank;
        values.push_back(own ? Region{i}.part(owned) : slot.part({begin, begin + owned.count()}));
        ready.push_back(own ? kNoStep : plan_.receive(rank, tag(p, i), values.back(), {gate}));
      }
    }
    for (const Merge& merge : merges_) {
      const bool last = &merge == &merges_.back();
      ready[merge.left] = plan_.reduce(values[merge.left], values[merge.right],
                                       last ? Region{kResult}.part(owned) : values[merge.left],
                                       {ready[merge.left], ready[merge.right]});
    }
    return ready[0];
  }

  void exchange_results(int p, const std::vector<std::vector<StepId>>& sent) {
    for (int offset = 1; offset < shape_.size; ++offset) {
      const int to = (shape_.rank + offset) % shape_.size;
      const int from = (shape_.rank - offset + shape_.size) % shape_.size;
      plan_.send(to, tag(p, most_operands_), Region{kResult}.part(piece(shape_.rank, p)), {reduced_[p]});
      // The result may be an operand, whose part must have left before it is overwritten.
      plan_.receive(from, tag(p, most_operands_), Region{kResult}.part(piece(from, p)), sent[from]);
    }
  }

  const ReductionShape& shape_;
  PlanBuilder plan_;
  std::vector<std::vector<TreeNode>> operands_;  // per rank
  std::vector<TreeNode> subtrees_;               // of all ranks, in leaf order
  std::vector<Merge> merges_;
  std::vector<Region> slots_;
  std::vector<StepId> reduced_;  // per piece: its last addition
  int most_operands_ = 0;
  int pieces_ = 1;
};

}  // namespace

Plan owner_exchange(const ReductionShape& shape) {
  return OwnerExchange(shape).build();
}

}  // namespace lockstep::comm

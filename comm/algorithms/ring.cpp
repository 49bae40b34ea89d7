#include "comm/algorithms/ring.h"

#include <algorithm>

namespace lockstep::comm {
namespace {

class Ring {
 public:
  explicit Ring(const ReductionShape& shape)
      : shape_(shape), operands_(static_cast<int>(shape.layout.subtrees(shape.rank).size())) {
    const int64_t longest_chunk = chunk_of(shape.count, shape.size, 0).count();
    pieces_ = piece_count(longest_chunk, shape.chunk_count, 2 * shape.size);
    const int64_t longest_piece = chunk_of(longest_chunk, pieces_, 0).count();
    for (int slot = 0; slot < 2 * std::min(pieces_, kPiecesInFlight); ++slot) {
      incoming_.push_back(plan_.scratch(longest_piece));
    }
    last_use_.assign(incoming_.size(), kNoStep);
  }

  Plan build() {
    for (int p = 0; p < pieces_; ++p) {
      std::vector<StepId> sent(shape_.size, kNoStep);
      const StepId reduced = reduce_around(p, sent);
      reduced_.push_back(reduced);
      if (!shape_.scatter) gather_around(p, sent, reduced);
    }
    return plan_.finish();
  }

 private:
  int next() const { return around(shape_.rank + 1); }
  int previous() const { return around(shape_.rank - 1); }
  int around(int rank) const { return (rank % shape_.size + shape_.size) % shape_.size; }
  int tag(int p, int round) const { return p * 2 * shape_.size + round; }

  Range piece(int chunk, int p) const {
    const Range whole = chunk_of(shape_.count, shape_.size, chunk);
    const Range part = chunk_of(whole.count(), pieces_, p);
    return {whole.begin + part.begin, whole.begin + part.end};
  }

  /// This rank's operands of a chunk, added up in operand 0.
  StepId add_operands(int chunk, int p, StepId after) {
    const Region sum = Region{0}.part(piece(chunk, p));
    for (int i = 1; i < operands_; ++i)
      after = plan_.reduce(sum, Region{i}.part(piece(chunk, p)), sum, {after});
    return after;
  }

  StepId reduce_around(int p, std::vector<StepId>& sent) {
    const StepId gate = p < kPiecesInFlight ? kNoStep : reduced_[p - kPiecesInFlight];
    int chunk = previous();
    StepId ready = add_operands(chunk, p, gate);
    for (int round = 0; round + 1 < shape_.size; ++round) {
      sent[chunk] = plan_.send(next(), tag(p, round), Region{0}.part(piece(chunk, p)), {ready, gate});
      chunk = around(chunk - 1);
      const int slot = p % kPiecesInFlight * 2 + round % 2;
      const Region mine = Region{0}.part(piece(chunk, p));
      const Region theirs = incoming_[slot].part({0, mine.count});
      const StepId received = plan_.receive(previous(), tag(p, round), theirs, {last_use_[slot]});
      const StepId added = add_operands(chunk, p, gate);
      const bool last = round + 2 == shape_.size;
      ready =
          plan_.reduce(theirs, mine, last ? Region{kResult}.part(piece(chunk, p)) : mine, {received, added});
      if (ready != kNoStep) last_use_[slot] = ready;
    }
    return ready;
  }

  void gather_around(int p, const std::vector<StepId>& sent, StepId ready) {
    int chunk = shape_.rank;
    for (int round = 0; round + 1 < shape_.size; ++round) {
      const int there = tag(p, shape_.size + round);
      plan_.send(next(), there, Region{kResult}.part(piece(chunk, p)), {ready});
      chunk = around(chunk - 1);
      // The result may be operand 0, whose part must have left before it is overwritten.
      ready = plan_.receive(previous(), there, Region{kResult}.part(piece(chunk, p)), {sent[chunk]});
    }
  }

  const ReductionShape& shape_;
  int operands_;
  PlanBuilder plan_;
  std::vector<Region> incoming_;  // scratch memory, two per piece in flight
  std::vector<StepId> last_use_;  // of incoming_
  std::vector<StepId> reduced_;   // per piece: its last addition
  int pieces_ = 1;
};

}  // namespace

Plan ring(const ReductionShape& shape) {
  return Ring(shape).build();
}

}  // namespace lockstep::comm

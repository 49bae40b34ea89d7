#include "comm/algorithms/recursive_doubling.h"

#include <algorithm>
#include <bit>

#include "comm/algorithms/direct.h"
#include "comm/algorithms/owner_exchange.h"

namespace lockstep::comm {
namespace {

class RecursiveDoubling {
 public:
  explicit RecursiveDoubling(const ReductionShape& shape)
      : shape_(shape),
        rounds_(std::countr_zero(static_cast<unsigned>(shape.size))),
        pieces_(piece_count(shape.count, shape.chunk_count, rounds_)) {
    const int64_t longest = chunk_of(shape.count, pieces_, 0).count();
    for (int slot = 0; slot < std::min(pieces_, kPiecesInFlight); ++slot) {
      for (int k = 0; k < rounds_; ++k) incoming_.push_back(plan_.scratch(longest));
    }
    last_uses_.resize(incoming_.size());
  }

  Plan build() {
    for (int p = 0; p < pieces_; ++p) add_piece(p);
    return plan_.finish();
  }

 private:
  /// A sum is written over what came in last, so that the sum before it may still be on its way.
  void add_piece(int p) {
    const Range piece = chunk_of(shape_.count, pieces_, p);
    const int slot = p % kPiecesInFlight * rounds_;
    Region sum = Region{0}.part(piece);
    StepId ready = kNoStep;
    StepId operand_sent = kNoStep;
    for (int k = 0; k < rounds_; ++k) {
      const int partner = shape_.rank ^ (1 << k);
      const int tag = p * rounds_ + k;
      const bool last = k + 1 == rounds_;
      const Region theirs = incoming_[slot + k].part({0, piece.count()});
      const StepId sent =
          k == 0 ? plan_.send(partner, tag, sum, last_uses_[slot]) : plan_.send(partner, tag, sum, {ready});
      const StepId received = plan_.receive(partner, tag, theirs, last_uses_[slot + k]);
      if (k == 0) operand_sent = sent;
      // The result may be the operand, which must have left before it is overwritten.
      const StepId overwritten = last ? operand_sent : kNoStep;
      const bool is_left = shape_.rank < partner;
      const Region target = last ? Region{kResult}.part(piece) : theirs;
      ready = plan_.reduce(is_left ? sum : theirs, is_left ? theirs : sum, target,
                           {ready, received, overwritten});
      if (k > 0) last_uses_[slot + k - 1] = {sent, ready};
      sum = target;
    }
    last_uses_[slot + rounds_ - 1] = {ready};
  }

  const ReductionShape& shape_;
  int rounds_;
  int pieces_;
  PlanBuilder plan_;
  std::vector<Region> incoming_;                      // scratch memory per (slot, round)
  std::vector<PlanBuilder::Dependencies> last_uses_;  // of incoming_
};

}  // namespace

Plan recursive_doubling(const ReductionShape& shape) {
  if (shape.scatter || !is_power_of_two(shape.size)) {
    return shape.count <= shape.chunk_count ? direct(shape) : owner_exchange(shape);
  }
  return RecursiveDoubling(shape).build();
}

}  // namespace lockstep::comm

#include "comm/algorithms/halving_doubling.h"

#include <algorithm>
#include <bit>

#include "comm/algorithms/owner_exchange.h"

namespace lockstep::comm {
namespace {

/// Pieces end on multiples of this many elements per rank, so that vector loops need no remainder inside a
/// message.
constexpr int64_t kUnitPerRank = 16;

class HalvingDoubling {
 public:
  explicit HalvingDoubling(const ReductionShape& shape)
      : shape_(shape),
        rounds_(std::countr_zero(static_cast<unsigned>(shape.size))),
        unit_(std::min(kUnitPerRank, shape.alignment) * shape.size),
        pieces_(piece_count(shape.count, std::max(shape.chunk_count, unit_), 2 * rounds_)) {
    const int64_t longest = piece_of(shape.count, pieces_, 0, unit_).count();
    for (int slot = 0; slot < std::min(pieces_, kPiecesInFlight); ++slot) {
      for (int k = 0; k < rounds_; ++k) incoming_.push_back(plan_.scratch((longest >> (k + 1)) + 1));
    }
    last_use_.assign(incoming_.size(), kNoStep);
  }

  Plan build() {
    for (int p = 0; p < pieces_; ++p) add_piece(p);
    return plan_.finish();
  }

 private:
  struct Round {
    Range kept;   // this rank goes on with it
    Range given;  // the partner goes on with it
    StepId sent = kNoStep;
  };

  int partner(int k) const { return shape_.rank ^ (1 << k); }
  bool is_left(int k) const { return (shape_.rank & (1 << k)) == 0; }
  int tag(int p, int round) const { return p * 2 * rounds_ + round; }

  void add_piece(int p) {
    std::vector<Round> rounds(rounds_);
    const StepId reduced = reduce_halves(p, rounds);
    gather_doubles(p, rounds, reduced);
  }

  StepId reduce_halves(int p, std::vector<Round>& rounds) {
    Range held = piece_of(shape_.count, pieces_, p, unit_);
    StepId ready = kNoStep;
    for (int k = 0; k < rounds_; ++k) {
      const int64_t middle = held.begin + (held.count() + 1) / 2;
      const Range low{held.begin, middle};
      const Range high{middle, held.end};
      Round& round = rounds[k];
      round.kept = is_left(k) ? low : high;
      round.given = is_left(k) ? high : low;

      const int slot = p % kPiecesInFlight * rounds_ + k;
      round.sent =
          plan_.send(partner(k), tag(p, k), Region{0}.part(round.given), {k == 0 ? last_use_[slot] : ready});
      const Region theirs = incoming_[slot].part({0, round.kept.count()});
      const StepId received = plan_.receive(partner(k), tag(p, k), theirs, {last_use_[slot]});
      const Region mine = Region{0}.part(round.kept);
      const Region sum = Region{k + 1 < rounds_ ? 0 : kResult}.part(round.kept);
      ready = plan_.reduce(is_left(k) ? mine : theirs, is_left(k) ? theirs : mine, sum, {ready, received});
      if (ready != kNoStep) last_use_[slot] = ready;
      held = round.kept;
    }
    return ready;
  }

  void gather_doubles(int p, const std::vector<Round>& rounds, StepId reduced) {
    std::vector<StepId> complete{reduced};
    for (int k = rounds_ - 1; k >= 0; --k) {
      const Round& round = rounds[k];
      const int back = tag(p, rounds_ + k);
      plan_.send(partner(k), back, Region{kResult}.part(round.kept), complete);
      // The result may be the operand, whose part must have left before it is overwritten.
      complete.push_back(plan_.receive(partner(k), back, Region{kResult}.part(round.given), {round.sent}));
    }
  }

  const ReductionShape& shape_;
  int rounds_;
  int64_t unit_;
  int pieces_;
  PlanBuilder plan_;
  std::vector<Region> incoming_;  // scratch memory per (slot, round)
  std::vector<StepId> last_use_;  // of incoming_
};

}  // namespace

Plan halving_doubling(const ReductionShape& shape) {
  if (shape.scatter || !is_power_of_two(shape.size)) return owner_exchange(shape);
  return HalvingDoubling(shape).build();
}

}  // namespace lockstep::comm

#include "comm/algorithms/moves.h"

#include <bit>

namespace lockstep::comm {

Plan all_gather(int rank, int size, int64_t count) {
  PlanBuilder plan;
  const auto place = [&](int owner) { return Region{kResult, owner * count, count}; };
  const Region mine{0, 0, count};
  plan.copy(mine, place(rank));
  for (int offset = 1; offset < size; ++offset) {
    plan.send((rank + offset) % size, 0, mine);
    const int from = (rank - offset + size) % size;
    plan.receive(from, 0, place(from));
  }
  return plan.finish();
}

Plan broadcast(const BroadcastShape& shape) {
  PlanBuilder plan;
  const auto relative = static_cast<unsigned>((shape.rank - shape.root + shape.size) % shape.size);
  const auto absolute = [&](unsigned rank) { return (static_cast<int>(rank) + shape.root) % shape.size; };
  const int pieces = piece_count(shape.count, shape.chunk_count, 1);
  std::vector<StepId> last_sent;  // per piece
  for (int p = 0; p < pieces; ++p) {
    const Region piece = Region{kResult}.part(chunk_of(shape.count, pieces, p));
    const StepId gate = p < kPiecesInFlight ? kNoStep : last_sent[p - kPiecesInFlight];
    const unsigned highest_bit = std::bit_floor(relative);
    const StepId received =
        relative == 0 ? kNoStep : plan.receive(absolute(relative - highest_bit), p, piece, {gate});
    StepId sent = received;
    for (unsigned bit = relative == 0 ? 1 : highest_bit * 2;
         relative + bit < static_cast<unsigned>(shape.size); bit *= 2) {
      sent = plan.send(absolute(relative + bit), p, piece, {received, gate});
    }
    last_sent.push_back(sent);
  }
  return plan.finish();
}

Plan barrier(int rank, int size) {
  PlanBuilder plan;
  const Region outgoing = plan.scratch(1);
  const Region incoming = plan.scratch(size);
  for (int offset = 1; offset < size; ++offset) {
    plan.send((rank + offset) % size, 0, outgoing);
    const int from = (rank - offset + size) % size;
    plan.receive(from, 0, incoming.part({from, from + 1}));
  }
  return plan.finish();
}

}  // namespace lockstep::comm

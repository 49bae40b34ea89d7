#include "comm/algorithms/torus.h"

#include <algorithm>

#include "comm/algorithms/ring.h"

namespace lockstep::comm {
namespace {

int row_length(const ReductionShape& shape) {
  if (shape.ranks_per_node > 1) return shape.ranks_per_node;
  int length = 1;
  for (int divisor = 2; divisor * divisor <= shape.size; ++divisor) {
    if (shape.size % divisor == 0) length = divisor;
  }
  return length;
}

class Torus {
 public:
  Torus(const ReductionShape& shape, int columns)
      : shape_(shape),
        columns_(columns),
        rows_(shape.size / columns),
        column_(shape.rank % columns),
        row_(shape.rank / columns) {
    for (int column = 0; column < columns_; ++column) row_ranks_.push_back(row_ * columns_ + column);
    for (int row = 0; row < rows_; ++row) column_ranks_.push_back(row * columns_ + column_);
    for (int rank = row_ * columns_; rank <= (row_ + 1) * columns_; ++rank) {
      row_layout_.begin.push_back(shape.layout.begin[rank]);
    }
    row_layout_.leaves = shape.layout.leaves;
    operands_ = static_cast<int>(shape.layout.subtrees(shape.rank).size());
    tags_ = 2 * std::max(columns_, rows_) + 1;
    pieces_ = piece_count(shape.count, std::max<int64_t>(1, shape.chunk_count) * columns_, tags_);
  }

  Plan build() {
    for (int p = 0; p < pieces_; ++p) {
      const Range piece = chunk_of(shape_.count, pieces_, p);
      const bool first = p < kPiecesInFlight;
      PlanBuilder::Dependencies ready = first ? PlanBuilder::Dependencies{} : done_[p - kPiecesInFlight];
      ready = scatter_along_row(p, piece, ready);
      ready = reduce_along_column(p, piece, ready);
      done_.push_back(gather_along_row(p, piece, ready));
    }
    return plan_.finish();
  }

 private:
  Region part(const Range& piece, int column) const {
    return Region{kResult}.part(piece).part(chunk_of(piece.count(), columns_, column));
  }

  PlanBuilder::Dependencies scatter_along_row(int p, const Range& piece,
                                              const PlanBuilder::Dependencies& after) {
    ReductionShape inner;
    inner.rank = column_;
    inner.size = columns_;
    inner.count = piece.count();
    inner.chunk_count = std::max<int64_t>(1, piece.count());
    inner.layout = row_layout_;
    inner.scatter = true;
    Embedding where;
    where.ranks = row_ranks_;
    where.first_tag = p * tags_;
    for (int i = 0; i < operands_; ++i) where.operands.push_back(Region{i}.part(piece));
    where.result = Region{kResult}.part(piece);
    return embed(p, 0, ring(inner), where, after);
  }

  PlanBuilder::Dependencies reduce_along_column(int p, const Range& piece,
                                                const PlanBuilder::Dependencies& after) {
    const Region mine = part(piece, column_);
    ReductionShape inner;
    inner.rank = row_;
    inner.size = rows_;
    inner.count = mine.count;
    inner.chunk_count = std::max<int64_t>(1, mine.count);
    inner.layout = one_leaf_each(rows_);
    Embedding where;
    where.ranks = column_ranks_;
    where.first_tag = p * tags_;
    where.operands = {mine};
    where.result = mine;
    const PlanBuilder::Dependencies done = embed(p, 1, ring(inner), where, after);
    return done.empty() ? after : done;
  }

  PlanBuilder::Dependencies gather_along_row(int p, const Range& piece,
                                             const PlanBuilder::Dependencies& after) {
    PlanBuilder::Dependencies done = after;
    const int tag = (p + 1) * tags_ - 1;
    for (int offset = 1; offset < columns_; ++offset) {
      const int to = (column_ + offset) % columns_;
      const int from = (column_ - offset + columns_) % columns_;
      done.push_back(plan_.send(row_ranks_[to], tag, part(piece, column_), after));
      done.push_back(plan_.receive(row_ranks_[from], tag, part(piece, from), after));
    }
    return done;
  }

  /// Pieces that are not in flight together share scratch memory. The first piece is the longest.
  PlanBuilder::Dependencies embed(int p, int phase, const Plan& inner, Embedding& where,
                                  const PlanBuilder::Dependencies& after) {
    Region& memory = scratch_[p % kPiecesInFlight][phase];
    if (memory.buffer != kScratch) memory = plan_.scratch(inner.scratch_count);
    where.scratch = memory;
    return plan_.embed(inner, where, after);
  }

  const ReductionShape& shape_;
  const int columns_;
  const int rows_;
  const int column_;  // this rank's
  const int row_;
  std::vector<int> row_ranks_;
  std::vector<int> column_ranks_;
  LeafLayout row_layout_;
  int operands_ = 1;
  int tags_ = 1;  // of a piece
  int pieces_ = 1;
  PlanBuilder plan_;
  Region scratch_[kPiecesInFlight][2];
  std::vector<PlanBuilder::Dependencies> done_;  // per piece
};

}  // namespace

Plan torus(const ReductionShape& shape) {
  const int columns = row_length(shape);
  if (shape.scatter || columns == 1 || columns == shape.size) return ring(shape);
  return Torus(shape, columns).build();
}

}  // namespace lockstep::comm

// Collectives among a fixed set of ranks.
//
// All ranks make the same calls in the same order (only memory, label and timeout may differ). Collectives
// return at once and are carried out in the order of the calls; memory given to one belongs to it until its
// Work is done. Progress is made by whoever waits, by poll(), and by a progress thread where the communicator
// has one. Calls that start collectives come from one thread at a time; poll() and Work may be used from any.
// After a CommError the communicator is dead: every later call throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/buffer.h"
#include "comm/call.h"
#include "comm/reduction_tree.h"
#include "comm/work.h"
#include "runtime/storage.h"

namespace lockstep::comm {

/// What a rank has sent so far: the data of collectives, without headers and debug checks.
struct Traffic {
  uint64_t bytes = 0;
  uint64_t messages = 0;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// In place. A reproducible communicator sums in tree order, rank r being leaf r of next_power_of_two(size)
  /// leaves; a fast one in an order that may depend on size. Every rank gets the same bits.
  Work all_reduce(Buffer data, ReduceOp op, const CollectiveOptions& options = {});

  /// Sums over a binary tree with `leaves` leaves, a power of two and at least size: operands[i] is this
  /// rank's sum of the subtree maximal_subtrees(leaves, rank_leaves(leaves, size, rank))[i]. The root's value
  /// goes to `result`, which may be one of the operands; all operands are scratch afterwards. The same bits
  /// for any number of ranks.
  Work tree_sum(std::vector<Buffer> operands, int leaves, Buffer result,
                const CollectiveOptions& options = {});

  /// In place: rank r's chunk, chunk_of(count, size, r), holds the reduction afterwards (in the order of
  /// all_reduce); the rest is scratch.
  Work reduce_scatter(Buffer data, ReduceOp op, const CollectiveOptions& options = {});

  /// all.count == size * mine.count; rank r's elements arrive at r * mine.count. `mine` may be its own place
  /// in `all`.
  Work all_gather(Buffer mine, Buffer all, const CollectiveOptions& options = {});

  Work broadcast(Buffer data, int root, const CollectiveOptions& options = {});

  /// Blocks until every rank has entered.
  void barrier(const CollectiveOptions& options = {});

  /// Zeros, in memory that reductions of large buffers are fastest in: where ranks share a machine, memory
  /// that they reach in each other. Ranks must agree on which buffers of a reduction come from here (all of
  /// them, or none). Any thread.
  virtual std::shared_ptr<Storage> allocate(size_t nbytes);

  /// Collective and blocking. Ranks with the same colour form a communicator, ordered by (key, rank); a
  /// negative colour gets none (null). It shares this one's progress, and must not outlive it.
  std::unique_ptr<Communicator> split(int color, int key);

  /// One bounded round of progress; cheap when nothing is to do.
  void poll() { make_progress(); }

  /// For a rank that cannot go on: collectives in flight are given up, their memory is no longer touched, the
  /// communicator is dead, and peers in the same process get a CommError with the reason. Before memory that
  /// was given to a collective goes out of scope because of an error. (Memory that ranks share among threads
  /// of one process must live until all of them are back.) Any thread.
  virtual void abandon(const std::string& reason) = 0;

  /// The training step that messages name.
  void set_step(int64_t step) { step_ = step; }

  uint64_t bytes_sent() const { return traffic().bytes; }
  uint64_t messages_sent() const { return traffic().messages; }

  /// How reductions are carried out, for the log of a run.
  virtual std::string description() const = 0;

  /// The collective that is being carried out and the ranks it waits for, for messages; empty when idle. Any
  /// thread.
  virtual std::string pending() const = 0;

 protected:
  Communicator(int rank, int size);

 private:
  friend class Work;

  /// Queues a checked call; size() > 1.
  virtual std::shared_ptr<WorkState> start(Call call) = 0;
  virtual void wait_for(WorkState& work) = 0;
  virtual void make_progress() = 0;
  virtual Traffic traffic() const = 0;
  /// The communicator of `members`, ranks of this one; called by every rank. Empty `members`: takes part,
  /// gets null.
  virtual std::unique_ptr<Communicator> make_split(int color, const std::vector<int>& members) = 0;

  Work submit(Call call);

  int rank_;
  int size_;
  int64_t step_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace lockstep::comm

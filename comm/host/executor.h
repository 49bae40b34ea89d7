// Carries out plans over a transport, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/algorithms/plan.h"
#include "comm/call.h"
#include "comm/communicator.h"
#include "comm/host/staging.h"
#include "comm/shared/shared_memory.h"
#include "comm/transport.h"
#include "runtime/storage.h"

namespace lockstep::comm {

/// With a codec, an element of a plan is a block: whole in scratch memory and in messages, as long as the
/// buffer goes elsewhere. Sends encode, receives decode, and reductions round.
///
/// Not thread safe: guarded by the progress lock. Its memory is reused from plan to plan.
class Executor {
 public:
  /// Transfers are cut into messages of at most `max_message_bytes`. In `shared` are found the buffers that
  /// plans publish.
  Executor(Transport& transport, SharedMemory& shared, size_t max_message_bytes);

  /// Starts `plan` on the memory of `call`; both must outlive it. `tag_base` is added to the plan's tags.
  void start(const Plan& plan, const Call& call, int tag_base);

  /// One bounded round: starts what is ready, notices what has finished. True if anything happened.
  bool advance();
  bool finished() const { return unfinished_ == 0; }

  /// The ranks that have sent nothing of what is awaited now; if there is none, those that owe more messages;
  /// if there is none, those that have not taken ours. In rank order.
  std::vector<int> missing_peers() const;
  const Traffic& traffic() const { return traffic_; }

 private:
  /// A rank's operands and its result, the last; as published, and as reached from here.
  struct PeerMemory {
    std::vector<SharedPlace> places;
    std::vector<std::byte*> addresses;
  };

  std::byte* address(const Region& region) const;
  int64_t elements(const Region& region) const;
  size_t nbytes(const Region& region) const;
  std::vector<SharedPlace> own_places() const;
  std::span<std::byte> message_of(StepId id);
  std::span<std::byte> staged(StepId id);
  void make_ready(StepId id);
  void start_transfer(StepId id);
  void run_local(StepId id);
  void reduce_regions(const Step& step);
  void copy_region(const Step& step);
  void fill_up(const Region& target, int64_t count);
  void finish_part(StepId id);
  void reach(PeerMemory& peer);
  void finish(StepId id);

  Transport& transport_;
  SharedMemory& shared_;
  const size_t max_message_bytes_;
  const Plan* plan_ = nullptr;
  const Call* call_ = nullptr;
  int tag_base_ = 0;
  const CodecRow* codec_ = nullptr;  // null: none
  int64_t unit_ = 1;                 // elements of the call per element of the plan
  size_t element_size_ = 1;          // of the call
  size_t unfinished_ = 0;
  std::vector<int> waits_;               // per step: dependencies that are not finished
  std::vector<int> parts_;               // per step: messages under way, or that it is finished
  std::vector<int> staged_;              // per step, with a codec: the number of its message's buffer
  std::vector<StepId> ready_transfers_;  // to start, in plan order as far as known
  std::vector<StepId> ready_local_;      // to compute; with a codec, also what to encode and to decode
  size_t next_local_ = 0;                // of ready_local_
  std::vector<int> finished_tokens_;
  std::shared_ptr<Storage> scratch_;
  Staging staging_;
  std::vector<SharedPlace> own_places_;
  std::vector<PeerMemory> peers_;  // by rank; of those that the plan discovers
  Traffic traffic_;
};

}  // namespace lockstep::comm

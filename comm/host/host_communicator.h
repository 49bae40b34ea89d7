// Collectives on host memory over any transport, by the algorithms of comm/algorithms/table.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "comm/algorithms/selection.h"
#include "comm/communicator.h"
#include "comm/topology.h"
#include "comm/transport.h"

namespace lockstep::comm {

enum class Numerics { kReproducible, kFast };

/// Who moves messages on while the rank computes. A thread hides communication behind computation, but takes
/// time from it where it has no core of its own.
enum class Progress {
  kAuto,    ///< a thread if this process may use more cores than `busy_threads`
  kCaller,  ///< only callers of wait(), done() and poll()
  kThread,
};

struct HostOptions {
  /// Of reductions: "auto" (by size, ranks and memory) or what parse_selection() reads: a row of the table of
  /// algorithms, or one for each range of sizes.
  std::string algorithm = "auto";
  /// kReproducible refuses algorithms whose order of summation depends on the number of ranks.
  Numerics numerics = Numerics::kReproducible;
  /// The longest that one wait() may last. The communicator is dead afterwards, so it must cover the greatest
  /// lateness of a healthy peer.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// A wait that lasts longer says once, as a warning in the log, what it waits for.
  std::chrono::milliseconds report_after = std::chrono::seconds(30);
  Progress progress = Progress::kAuto;
  /// Compute threads of all ranks that share the cores of this process. With fewer cores than that, waits do
  /// not spin, nor with as many and a thread of the communicator.
  int busy_threads = 1;
  /// Compares every call with the neighbour's before it is carried out: a round trip more per collective.
  bool debug_checks = false;
  /// Longer transfers are cut. MPI counts are ints, so below 2 GiB; tests use a few bytes.
  size_t max_message_bytes = size_t{1} << 30;
  /// About how many bytes a reduction works on at a time: small enough for the second-level cache, large
  /// enough that the start of a message does not count.
  size_t chunk_bytes = size_t{1} << 20;
  /// When it becomes true, a wait that lasts longer than `stop_grace` from then on ends with a CommError. May
  /// be null; must outlive the communicator.
  const std::atomic<bool>* stop = nullptr;
  std::chrono::milliseconds stop_grace{300};
};

class OperationQueue;
class PlanCache;
class ProgressEngine;
class SharedMemory;

class HostCommunicator final : public Communicator {
 public:
  /// Throws InvalidArgument for an algorithm that is unknown or not reproducible when it must be. At most one
  /// such communicator at a time may exist over the transports of a rank; it makes the others with split().
  HostCommunicator(std::unique_ptr<Transport> transport, const HostOptions& options);
  /// If collectives are unfinished, peers in the same process are told and get a CommError.
  ~HostCommunicator() override;

  /// For people: "auto (direct up to 2 KiB, halving_doubling above)".
  std::string algorithm() const;
  /// From the next call on, on all ranks alike; as HostOptions::algorithm.
  void set_algorithm(const std::string& algorithm);
  bool has_progress_thread() const;

  /// Collective and blocking, at most once: from now on allocate() gives memory that the ranks of a machine
  /// reach in each other, and reductions of it use that, if all ranks reach their neighbours' (description()
  /// has the reason if not).
  void share_memory(const Topology& topology);
  /// 1 where memory is not shared.
  int ranks_per_node() const { return ranks_per_node_; }

  std::shared_ptr<Storage> allocate(size_t nbytes) override;
  void abandon(const std::string& reason) override;
  std::string pending() const override;
  std::string description() const override;

 private:
  HostCommunicator(std::unique_ptr<Transport> transport, const HostOptions& options,
                   std::shared_ptr<ProgressEngine> engine);

  std::shared_ptr<WorkState> start(Call call) override;
  bool is_shared(const Call& call) const;
  bool reaches_node(const NodeLayout& layout);
  void wait_for(WorkState& work) override;
  void make_progress() override;
  Traffic traffic() const override;
  std::unique_ptr<Communicator> make_split(int color, const std::vector<int>& members) override;

  HostOptions options_;
  Selection selection_;
  std::shared_ptr<ProgressEngine> engine_;
  std::unique_ptr<SharedMemory> memory_;
  std::unique_ptr<OperationQueue> queue_;  // guarded by the engine's lock
  std::unique_ptr<PlanCache> plans_;
  int ranks_per_node_ = 1;
  std::string not_shared_ = "not asked for";  // the reason; empty if memory is shared
};

}  // namespace lockstep::comm

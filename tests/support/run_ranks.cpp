#include "tests/support/run_ranks.h"

#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/local/local_group.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::test {
namespace {

/// What the ranks of one run and its watchdog share.
struct Run {
  explicit Run(int ranks)
      : group(ranks), communicators(ranks), failures(ranks), returned(ranks, false), running(ranks) {}

  comm::LocalGroup group;
  std::vector<std::unique_ptr<comm::HostCommunicator>> communicators;
  std::vector<std::string> failures;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::vector<bool> returned;
  int running;
};

void share_memory(comm::HostCommunicator& communicator, int ranks_per_node) {
  comm::Topology topology;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    topology.node_of_rank.push_back(rank / ranks_per_node);
  }
  communicator.share_memory(topology);
  check(communicator.ranks_per_node() == ranks_per_node, "run_ranks", communicator.description());
}

void run_rank(Run& run, int rank, const std::function<void(comm::Communicator&)>& body, int ranks_per_node) {
  try {
    if (ranks_per_node > 1) share_memory(*run.communicators[rank], ranks_per_node);
    body(*run.communicators[rank]);
  } catch (const std::exception& error) {
    run.failures[rank] = error.what();
    run.group.abort(rank, error.what());
  }
  const std::lock_guard guard(run.mutex);
  run.returned[rank] = true;
  --run.running;
  run.changed.notify_all();
}

/// Waits for all ranks; ends the process when they take too long.
void watch(Run& run, std::chrono::seconds limit) {
  std::unique_lock guard(run.mutex);
  if (run.changed.wait_for(guard, limit, [&] { return run.running == 0; })) return;
  std::cerr << "run_ranks: not finished after " << limit.count() << " s:\n";
  for (int rank = 0; rank < run.group.size(); ++rank) {
    if (run.returned[rank]) continue;
    const std::string call = run.communicators[rank]->pending();
    std::cerr << (call.empty() ? "rank " + std::to_string(rank) + ": not in a collective" : call) << '\n';
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

std::vector<std::string> run_failing_ranks(int ranks, const std::function<void(comm::Communicator&)>& body,
                                           const RunOptions& options) {
  Run run(ranks);
  comm::HostOptions host = options.host;
  if (host.busy_threads == 1) host.busy_threads = ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    run.communicators[rank] = std::make_unique<comm::HostCommunicator>(run.group.transport(rank), host);
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.push_back(start_thread("rank " + std::to_string(rank),
                                   [&, rank] { run_rank(run, rank, body, options.ranks_per_node); }));
  }
  watch(run, options.watchdog);
  for (std::thread& thread : threads) thread.join();
  return run.failures;
}

void run_ranks(int ranks, const std::function<void(comm::Communicator&)>& body, const RunOptions& options) {
  const std::vector<std::string> failures = run_failing_ranks(ranks, body, options);
  for (int rank = 0; rank < ranks; ++rank) {
    if (!failures[rank].empty()) throw Error(to_text("rank ", rank, ": ", failures[rank]));
  }
}

}  // namespace lockstep::test

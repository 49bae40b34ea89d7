#include "comm/host/host_communicator.h"

#include <algorithm>
#include <cstring>

#include "comm/host/backoff.h"
#include "comm/host/operation_queue.h"
#include "comm/host/plan_cache.h"
#include "comm/host/progress.h"
#include "comm/shared/shared_memory.h"
#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"

namespace lockstep::comm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAutomatic = "auto";

Selection choose_algorithm(const HostOptions& options, int ranks, int ranks_per_node) {
  if (options.algorithm == kAutomatic) return automatic_selection(ranks, ranks_per_node);
  return parse_selection(options.algorithm, options.numerics == Numerics::kReproducible);
}

ProgressEngine::Options engine_options(const HostOptions& options) {
  const int cores = allowed_cores();
  ProgressEngine::Options engine;
  engine.own_thread = options.progress == Progress::kThread ||
                      (options.progress == Progress::kAuto && cores > options.busy_threads);
  const int threads = options.busy_threads + (engine.own_thread ? 1 : 0);
  engine.spins = cores >= threads ? 1000 : 0;  // else it would keep the others from computing
  return engine;
}

std::string in_seconds(Clock::duration time) {
  return to_text(std::chrono::duration<double>(time).count(), " s");
}

}  // namespace

HostCommunicator::HostCommunicator(std::unique_ptr<Transport> transport, const HostOptions& options)
    : HostCommunicator(std::move(transport), options,
                       std::make_shared<ProgressEngine>(engine_options(options))) {}

HostCommunicator::HostCommunicator(std::unique_ptr<Transport> transport, const HostOptions& options,
                                   std::shared_ptr<ProgressEngine> engine)
    : Communicator(transport->rank(), transport->size()),
      options_(options),
      selection_(choose_algorithm(options, size(), 1)),
      engine_(std::move(engine)),
      memory_(std::make_unique<SharedMemory>()),
      queue_(std::make_unique<OperationQueue>(
          std::move(transport), *memory_,
          OperationQueue::Options{options.max_message_bytes, options.debug_checks}, engine_->unfinished())),
      plans_(std::make_unique<PlanCache>(rank(), size(), selection_, options.chunk_bytes)) {
  check(options.max_message_bytes > 0 && options.chunk_bytes > 0, "communicator",
        "max_message_bytes and chunk_bytes must be positive");
  const auto lock = engine_->lock();
  engine_->attach(*queue_);
}

HostCommunicator::~HostCommunicator() {
  const auto lock = engine_->lock();
  engine_->detach(*queue_);
  queue_.reset();
}

std::string HostCommunicator::algorithm() const {
  const std::string description = selection_.description();
  return options_.algorithm == kAutomatic ? to_text(kAutomatic, " (", description, ")") : description;
}

void HostCommunicator::set_algorithm(const std::string& algorithm) {
  HostOptions changed = options_;
  changed.algorithm = algorithm;
  selection_ = choose_algorithm(changed, size(), ranks_per_node_);
  options_ = changed;
  plans_->share(ranks_per_node_, selection_);
}

bool HostCommunicator::has_progress_thread() const {
  return engine_->has_thread();
}

void HostCommunicator::share_memory(const Topology& topology) {
  check(static_cast<int>(topology.node_of_rank.size()) == size(), "share_memory", "expected the nodes of ",
        size(), " ranks, got ", topology.node_of_rank.size());
  const NodeLayout layout = node_layout(topology);
  not_shared_ = layout.reason;
  if (layout.ranks_per_node == 1) return;
  int32_t reached = reaches_node(layout) ? 1 : 0;
  all_reduce({&reached, 1, DType::kI32}, ReduceOp::kMin, {.label = "share memory"}).wait();
  if (reached == 0) {
    not_shared_ = "some rank does not reach its neighbours' memory; see its warning";
    return;
  }
  ranks_per_node_ = layout.ranks_per_node;
  selection_ = choose_algorithm(options_, size(), ranks_per_node_);
  plans_->share(ranks_per_node_, selection_);
}

/// Each rank shows a place that holds its own description, and looks at those of its node.
bool HostCommunicator::reaches_node(const NodeLayout& layout) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(SharedPlace));
  std::vector<SharedPlace> places(static_cast<size_t>(size()));
  std::shared_ptr<Storage> probe;
  std::string failure;
  try {
    probe = memory_->allocate(sizeof(SharedPlace));
    SharedPlace& mine = places[static_cast<size_t>(rank())];
    mine = *memory_->find(probe->data(), probe->nbytes());
    std::memcpy(probe->data(), &mine, sizeof(mine));
  } catch (const Error& error) {
    failure = error.what();
  }
  SharedPlace mine = places[static_cast<size_t>(rank())];
  all_gather({&mine, kBytes, DType::kU8}, {places.data(), size() * kBytes, DType::kU8},
             {.label = "share memory"})
      .wait();
  const int first = rank() - rank() % layout.ranks_per_node;
  for (int peer = first; peer < first + layout.ranks_per_node && failure.empty(); ++peer) {
    const SharedPlace& theirs = places[static_cast<size_t>(peer)];
    try {
      check<CommError>(theirs.process != 0, "shared memory", "rank ", peer, " has none");
      check<CommError>(std::memcmp(memory_->reach(theirs), &theirs, sizeof(theirs)) == 0, "shared memory",
                       "process ", theirs.process, " is not rank ", peer, " here");
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  if (!failure.empty()) log::warning(failure);
  // Nobody's probe may go before all have looked.
  barrier({.label = "share memory"});
  return failure.empty();
}

std::shared_ptr<Storage> HostCommunicator::allocate(size_t nbytes) {
  return ranks_per_node_ > 1 ? memory_->allocate(nbytes) : Communicator::allocate(nbytes);
}

bool HostCommunicator::is_shared(const Call& call) const {
  const bool reduction = call.kind == Collective::kAllReduce || call.kind == Collective::kTreeSum;
  if (ranks_per_node_ == 1 || !reduction) return false;
  const auto found = [&](const Buffer& buffer) {
    return memory_->find(buffer.data, buffer.nbytes()).has_value();
  };
  return found(call.result) && std::ranges::all_of(call.operands, found);
}

void HostCommunicator::abandon(const std::string& reason) {
  const auto lock = engine_->lock();
  queue_->fail(reason);
}

std::string HostCommunicator::pending() const {
  const auto lock = engine_->lock();
  return queue_->describe_front();
}

std::string HostCommunicator::description() const {
  return to_text("all-reduce: ", algorithm(), "; ",
                 not_shared_.empty() ? to_text("memory shared by ", ranks_per_node_, " ranks of a machine")
                                     : "messages only, no shared memory: " + not_shared_);
}

std::shared_ptr<WorkState> HostCommunicator::start(Call call) {
  call.shared = is_shared(call);
  auto operation = std::make_shared<Operation>();
  operation->plan = plans_->plan_for(call);
  operation->call = std::move(call);
  const auto lock = engine_->lock();
  queue_->push(operation);
  queue_->advance();  // at once, so that transfers start
  engine_->notify();
  return operation;
}

void HostCommunicator::wait_for(WorkState& work) {
  const Call& call = static_cast<Operation&>(work).call;
  const Clock::duration timeout = call.options.timeout.count() > 0 ? call.options.timeout : options_.timeout;
  const Clock::time_point start = Clock::now();
  Clock::time_point stop_seen = Clock::time_point::max();
  bool reported = false;
  Backoff backoff(engine_->spins());
  const auto give_up = [&](const auto&... reason) {
    const auto lock = engine_->lock();
    if (work.done.load(std::memory_order_acquire)) return;
    std::string text = to_text("[", name_of(call.kind), "] ", queue_->describe_front(), ": ", reason...);
    if (!queue_->is_front(work)) text += "; " + describe(call) + " waits behind it";
    queue_->fail(text);
  };
  while (!work.done.load(std::memory_order_acquire)) {
    if (engine_->try_round()) {
      backoff.reset();
    } else {
      backoff.pause();
    }
    const Clock::time_point now = Clock::now();
    if (now - start > timeout) {
      return give_up("not finished within ", in_seconds(timeout), " (comm.timeout_seconds)");
    }
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) {
      if (stop_seen == Clock::time_point::max()) stop_seen = now;
      if (now - stop_seen > options_.stop_grace) {
        return give_up("gave up waiting after ", in_seconds(now - start), " because the run is to stop");
      }
    }
    if (!reported && now - start > options_.report_after) {
      reported = true;
      const std::string what = pending();
      if (!what.empty()) log::warning(what, ": still waiting after ", in_seconds(now - start));
    }
  }
}

void HostCommunicator::make_progress() {
  engine_->try_round();
}

Traffic HostCommunicator::traffic() const {
  const auto lock = engine_->lock();
  return queue_->traffic();
}

std::unique_ptr<Communicator> HostCommunicator::make_split(int color, const std::vector<int>& members) {
  std::unique_ptr<Transport> transport;
  {
    const auto lock = engine_->lock();
    transport = queue_->transport().split(color, members);
  }
  if (!transport) return nullptr;
  return std::unique_ptr<Communicator>(new HostCommunicator(std::move(transport), options_, engine_));
}

}  // namespace lockstep::comm

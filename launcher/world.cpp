#include "launcher/world.h"

#include <unistd.h>

#include <optional>

#include "comm/host/host_communicator.h"
#include "comm/local/local_group.h"
#include "comm/mpi/mpi_topology.h"
#include "comm/mpi/mpi_transport.h"
#include "launcher/exit_status.h"
#include "launcher/watchdog.h"
#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

using std::chrono::milliseconds;

milliseconds seconds(double value) {
  return milliseconds(static_cast<int64_t>(value * 1000));
}

comm::HostOptions host_options(const Identity& identity, const TrainConfig& config,
                               const WorldOptions& options, const comm::Topology& topology) {
  comm::HostOptions host;
  host.algorithm = config.comm().algorithm();
  host.numerics =
      config.numerics() == TrainConfig::FAST ? comm::Numerics::kFast : comm::Numerics::kReproducible;
  host.timeout = seconds(config.comm().timeout_seconds());
  if (config.comm().progress() == TrainConfig::Comm::CALLER) host.progress = comm::Progress::kCaller;
  if (config.comm().progress() == TrainConfig::Comm::THREAD) host.progress = comm::Progress::kThread;
  host.busy_threads = options.threads * identity.local_size;
  if (host.progress == comm::Progress::kAuto && on_several_machines(topology)) {
    // A core's time for messages is worth less than that of a wire that stands still.
    host.progress = comm::Progress::kThread;
  }
  host.debug_checks = config.comm().debug_checks();
  host.stop = options.ending;
  host.stop_grace = milliseconds(500);
  return host;
}

}  // namespace

World::World(const Identity& identity, const TrainConfig& config, const WorldOptions& options) {
  std::unique_ptr<comm::Transport> transport;
  comm::Topology topology{{0}};
  if (identity.has_launcher()) {
    const milliseconds deadline = seconds(config.comm().start_timeout_seconds());
    {
      const std::string call = to_text("MPI_Init of rank ", identity.rank, " of ", identity.size);
      const Watchdog watchdog(call, deadline, kCommunicationLost);
      session_ = std::make_unique<comm::MpiSession>();
    }
    check<ConfigError>(session_->rank() == identity.rank && session_->size() == identity.size, "world",
                       identity.launcher, " says rank ", identity.rank, " of ", identity.size,
                       ", MPI says rank ", session_->rank(), " of ", session_->size(),
                       "; was the program started by another MPI's mpirun?");
    transport = comm::make_mpi_transport(*session_, deadline);
    topology = comm::mpi_topology(*session_);
  } else {
    transport = comm::LocalGroup(1).transport(0);
  }
  auto communicator = std::make_unique<comm::HostCommunicator>(
      std::move(transport), host_options(identity, config, options, topology));
  if (session_ && config.comm().shared_memory()) communicator->share_memory(topology);
  communicator_ = std::move(communicator);
}

void World::leave() {
  communicator_.reset();
  if (session_) session_->finalize();
}

void World::abort(int status) {
  if (session_) session_->abort(status);
  _exit(status);
}

}  // namespace lockstep::launcher

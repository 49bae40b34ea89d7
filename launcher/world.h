// All ranks of a run, as this process sees them: MPI under a launcher, nothing but itself without one.
#pragma once

#include <atomic>
#include <memory>

#include "comm/communicator.h"
#include "comm/mpi/mpi_session.h"
#include "launcher/environment.h"
#include "proto/train_config.pb.h"

namespace lockstep::launcher {

struct WorldOptions {
  int threads = 1;                            ///< compute threads of this rank
  const std::atomic<bool>* ending = nullptr;  ///< see train::Requests; must outlive the world
};

class World {
 public:
  /// Joins the other ranks; MPI is started only under a launcher. Throws ConfigError when the launcher and
  /// MPI disagree about the ranks; ends the process when the others have not come by
  /// comm.start_timeout_seconds.
  World(const Identity& identity, const TrainConfig& config, const WorldOptions& options);

  comm::Communicator& communicator() { return *communicator_; }
  /// Collective, after success only: ends MPI.
  void leave();
  /// Ends all ranks with this status, without a word to them.
  [[noreturn]] void abort(int status);

 private:
  std::unique_ptr<comm::MpiSession> session_;  // null without a launcher
  std::unique_ptr<comm::Communicator> communicator_;
};

}  // namespace lockstep::launcher

// Bytes between processes, by MPI point-to-point messages.
#pragma once

#include <chrono>
#include <memory>

#include "comm/mpi/mpi_session.h"
#include "comm/transport.h"

namespace lockstep::comm {

/// A transport among all ranks of the session, on a duplicate of MPI_COMM_WORLD. Collective; throws CommError
/// when not all ranks have come within `timeout`. A message holds less than 2 GiB. The session must outlive
/// it. abort() only marks this rank's transports as failed, without entering MPI: ending the other processes
/// is MpiSession::abort().
std::unique_ptr<Transport> make_mpi_transport(const MpiSession& session,
                                              std::chrono::milliseconds timeout = std::chrono::minutes(2));

}  // namespace lockstep::comm

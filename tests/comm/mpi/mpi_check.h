// What the tests under mpirun share.
#pragma once

#include <memory>

#include "comm/host/host_communicator.h"
#include "comm/mpi/mpi_session.h"
#include "comm/transport.h"
#include "runtime/error.h"

namespace lockstep::comm::test {

MpiSession& session();

/// Transports and communicators among all ranks, which share memory; collective, one at a time.
std::unique_ptr<Transport> mpi_transport();
std::unique_ptr<HostCommunicator> communicator(const HostOptions& options);

}  // namespace lockstep::comm::test

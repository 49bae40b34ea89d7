// Which ranks of an MPI job are on one machine.
#pragma once

#include "comm/mpi/mpi_session.h"
#include "comm/topology.h"

namespace lockstep::comm {

/// Collective over the session's ranks, all of which must have come (make_mpi_transport waits for them).
Topology mpi_topology(const MpiSession& session);

}  // namespace lockstep::comm

#include "comm/mpi/mpi_topology.h"

#include <mpi.h>

#include "comm/mpi/mpi_error.h"

namespace lockstep::comm {

Topology mpi_topology(const MpiSession& session) {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, session.rank(), MPI_INFO_NULL, &node),
            "MPI_Comm_split_type");
  int first = session.rank();  // of the node: its number
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  Topology topology;
  topology.node_of_rank.resize(static_cast<size_t>(session.size()));
  check_mpi(MPI_Allgather(&first, 1, MPI_INT, topology.node_of_rank.data(), 1, MPI_INT, MPI_COMM_WORLD),
            "MPI_Allgather");
  return topology;
}

}  // namespace lockstep::comm

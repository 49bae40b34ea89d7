// Return codes of MPI.
#pragma once

namespace lockstep::comm {

/// Throws CommError with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace lockstep::comm

#include "comm/mpi/mpi_error.h"

#include <mpi.h>

#include "runtime/error.h"

namespace lockstep::comm {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw CommError(to_text("[", call, "] ", text));
}

}  // namespace lockstep::comm

#include "comm/mpi/mpi_session.h"

#include <mpi.h>

#include <cstdlib>

#include "comm/mpi/mpi_error.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

int to_mpi(MpiThreadLevel level) {
  switch (level) {
    case MpiThreadLevel::kSingle:
      return MPI_THREAD_SINGLE;
    case MpiThreadLevel::kFunneled:
      return MPI_THREAD_FUNNELED;
    case MpiThreadLevel::kSerialized:
      return MPI_THREAD_SERIALIZED;
    case MpiThreadLevel::kMultiple:
      break;
  }
  return MPI_THREAD_MULTIPLE;
}

MpiThreadLevel from_mpi(int level) {
  if (level >= MPI_THREAD_MULTIPLE) return MpiThreadLevel::kMultiple;
  if (level >= MPI_THREAD_SERIALIZED) return MpiThreadLevel::kSerialized;
  if (level >= MPI_THREAD_FUNNELED) return MpiThreadLevel::kFunneled;
  return MpiThreadLevel::kSingle;
}

}  // namespace

const char* name_of(MpiThreadLevel level) {
  switch (level) {
    case MpiThreadLevel::kSingle:
      return "MPI_THREAD_SINGLE";
    case MpiThreadLevel::kFunneled:
      return "MPI_THREAD_FUNNELED";
    case MpiThreadLevel::kSerialized:
      return "MPI_THREAD_SERIALIZED";
    case MpiThreadLevel::kMultiple:
      break;
  }
  return "MPI_THREAD_MULTIPLE";
}

void check_thread_level(MpiThreadLevel required, MpiThreadLevel provided) {
  check<CommError>(provided >= required, "MPI_Init_thread",
                   "MPI allows too little of threads: expected at least ", name_of(required), ", got ",
                   name_of(provided));
}

MpiSession::MpiSession(MpiThreadLevel required) {
  int initialized = 0;
  int finalized = 0;
  check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  check_mpi(MPI_Finalized(&finalized), "MPI_Finalized");
  check<CommError>(!finalized, "MPI_Init_thread", "MPI has ended already and cannot be started again");
  int provided = MPI_THREAD_SINGLE;
  if (initialized) {
    check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
  } else {
    check_mpi(MPI_Init_thread(nullptr, nullptr, to_mpi(required), &provided), "MPI_Init_thread");
    started_here_ = true;
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_thread_level(required, from_mpi(provided));
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
}

void MpiSession::finalize() {
  if (!started_here_) return;
  started_here_ = false;
  check_mpi(MPI_Finalize(), "MPI_Finalize");
}

void MpiSession::abort(int code) noexcept {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);  // MPI_Abort may return
}

}  // namespace lockstep::comm

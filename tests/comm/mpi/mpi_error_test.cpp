#include "comm/mpi/mpi_error.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

TEST(CheckMpi, NamesTheCallAndMpisReason) {
  check_mpi(MPI_SUCCESS, "MPI_Isend");
  try {
    check_mpi(MPI_ERR_TAG, "MPI_Isend");
    FAIL() << "no error";
  } catch (const CommError& error) {
    EXPECT_EQ(std::string(error.what()).find("[MPI_Isend] MPI_ERR_TAG"), 0U) << error.what();
  }
}

}  // namespace
}  // namespace lockstep::comm

// Runs tests on every rank of an mpirun; fails if they fail on any.
#include "tests/comm/mpi/mpi_check.h"

#include <gtest/gtest.h>

#include <iostream>

#include "comm/mpi/mpi_topology.h"
#include "comm/mpi/mpi_transport.h"

namespace lockstep::comm::test {
namespace {

MpiSession* the_session = nullptr;  // owned by main

}  // namespace

MpiSession& session() {
  return *the_session;
}

std::unique_ptr<Transport> mpi_transport() {
  return make_mpi_transport(session());
}

std::unique_ptr<HostCommunicator> communicator(const HostOptions& options) {
  HostOptions for_tests = options;
  for_tests.busy_threads = session().size();
  for_tests.timeout = std::chrono::seconds(60);
  auto comm = std::make_unique<HostCommunicator>(mpi_transport(), for_tests);
  comm->share_memory(mpi_topology(session()));
  return comm;
}

}  // namespace lockstep::comm::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  lockstep::comm::MpiSession session;
  lockstep::comm::test::the_session = &session;
  if (session.rank() != 0) {
    // One rank tells the story; the others report only what goes wrong.
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  if (RUN_ALL_TESTS() != 0) {
    std::cerr << "mpi_check: tests failed on rank " << session.rank() << std::endl;
    session.abort(1);
  }
  session.finalize();
  return 0;
}

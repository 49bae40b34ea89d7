#include "comm/mpi/mpi_topology.h"

#include <gtest/gtest.h>

#include "tests/comm/mpi/mpi_check.h"

namespace lockstep::comm::test {
namespace {

TEST(MpiTopology, AllRanksOfThisMachineAreOfOneNode) {
  const Topology topology = mpi_topology(session());
  EXPECT_EQ(topology.node_of_rank, std::vector<int>(static_cast<size_t>(session().size()), 0));
}

}  // namespace
}  // namespace lockstep::comm::test

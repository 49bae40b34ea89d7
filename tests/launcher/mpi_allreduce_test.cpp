#include "launcher/mpi_allreduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/comm/mpi/mpi_check.h"

namespace lockstep::launcher {
namespace {

TEST(MpiAllreduce, EveryAlgorithmSums) {
  const MpiAllreduce mpi;
  EXPECT_EQ(mpi.names().front(), "mpi/default");
  EXPECT_TRUE(std::ranges::count(mpi.names(), "mpi/ring")) << "the algorithms of Open MPI";
  for (size_t i = 0; i < mpi.names().size(); ++i) {
    std::vector<float> data(10000, static_cast<float>(1 + comm::test::session().rank()));
    mpi.sum(i, {data.data(), 10000, DType::kF32});
    EXPECT_EQ(data, std::vector<float>(10000, 3)) << mpi.names()[i];
  }
}

TEST(MpiAllreduce, KnowsWhichTypesMpiHas) {
  EXPECT_TRUE(MpiAllreduce::supports(DType::kF64));
  EXPECT_FALSE(MpiAllreduce::supports(DType::kBF16));
}

}  // namespace
}  // namespace lockstep::launcher

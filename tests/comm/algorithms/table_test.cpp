#include "comm/algorithms/table.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

TEST(AlgorithmTable, FindsEveryRowByItsName) {
  for (const Algorithm& algorithm : algorithms()) EXPECT_EQ(&find_algorithm(algorithm.name), &algorithm);
}

TEST(AlgorithmTable, AutoTakesOneRoundForWhatIsSmall) {
  EXPECT_STREQ(automatic_algorithm(2, 2048, false).name, "direct");
  EXPECT_STREQ(automatic_algorithm(2, 2049, false).name, "halving_doubling");
  EXPECT_STREQ(automatic_algorithm(4, 256, false).name, "direct");
  EXPECT_STREQ(automatic_algorithm(4, 257, false).name, "halving_doubling");
  for (const size_t nbytes : {4, 1 << 20}) EXPECT_TRUE(automatic_algorithm(7, nbytes, false).tree_order);
}

TEST(AlgorithmTable, AutoUsesSharedMemoryWhereThereIsSome) {
  EXPECT_STREQ(automatic_algorithm(2, 4096, true).name, "halving_doubling");
  EXPECT_STREQ(automatic_algorithm(2, 8192, true).name, "hierarchical");
}

TEST(AlgorithmTable, ListsTheNames) {
  EXPECT_EQ(algorithm_names(false), "direct, halving_doubling, hierarchical, recursive_doubling, ring, torus");
  EXPECT_EQ(algorithm_names(true), "direct, halving_doubling, hierarchical, recursive_doubling");
}

TEST(AlgorithmTable, AnswersAnUnknownNameWithTheKnownOnes) {
  try {
    find_algorithm("rong");
    FAIL() << "found";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[comm.algorithm] unknown algorithm \"rong\": expected auto or one of "
                 "direct, halving_doubling, hierarchical, recursive_doubling, ring, torus");
  }
}

}  // namespace
}  // namespace lockstep::comm

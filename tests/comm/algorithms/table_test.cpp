#include "comm/algorithms/table.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

TEST(AlgorithmTable, FindsEveryRowByItsName) {
  for (const Algorithm& algorithm : algorithms()) EXPECT_EQ(&find_algorithm(algorithm.name), &algorithm);
}

TEST(AlgorithmTable, AutoTakesOneRoundForWhatIsSmall) {
  EXPECT_STREQ(automatic_algorithm(2, 2048).name, "direct");
  EXPECT_STREQ(automatic_algorithm(2, 2049).name, "halving_doubling");
  EXPECT_STREQ(automatic_algorithm(4, 256).name, "direct");
  EXPECT_STREQ(automatic_algorithm(4, 257).name, "halving_doubling");
  for (const size_t nbytes : {4, 1 << 20}) EXPECT_TRUE(automatic_algorithm(7, nbytes).tree_order);
}

TEST(AlgorithmTable, ListsTheNames) {
  EXPECT_EQ(algorithm_names(false), "direct, halving_doubling, ring");
  EXPECT_EQ(algorithm_names(true), "direct, halving_doubling");
}

TEST(AlgorithmTable, AnswersAnUnknownNameWithTheKnownOnes) {
  try {
    find_algorithm("rong");
    FAIL() << "found";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "[comm.algorithm] unknown algorithm \"rong\": expected auto or one of "
                 "direct, halving_doubling, ring");
  }
}

}  // namespace
}  // namespace lockstep::comm

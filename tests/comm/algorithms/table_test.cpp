#include "comm/algorithms/table.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

TEST(AlgorithmTable, FindsEveryRowByItsName) {
  for (const Algorithm& algorithm : algorithms()) EXPECT_EQ(&find_algorithm(algorithm.name), &algorithm);
}

TEST(AlgorithmTable, ListsTheNames) {
  EXPECT_EQ(algorithm_names(false),
            "direct, halving_doubling, hierarchical, recursive_doubling, ring, torus");
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

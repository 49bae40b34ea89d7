#include "comm/algorithms/torus.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/comm/algorithms/plan_check.h"

namespace lockstep::comm {
namespace {

ReductionShape shape_of(int ranks, int ranks_per_node, int64_t count, int64_t chunk_count) {
  ReductionShape shape{
      .size = ranks, .count = count, .chunk_count = chunk_count, .layout = dealt_leaves(16, ranks)};
  shape.ranks_per_node = ranks_per_node;
  return shape;
}

TEST(Torus, IsWellFormed) {
  for (const auto& [ranks, ranks_per_node] :
       {std::pair(4, 1), {6, 1}, {6, 3}, {8, 2}, {8, 4}, {9, 1}, {12, 1}}) {
    for (const int64_t count : {0, 1, ranks - 1, ranks + 1, 3000}) {
      EXPECT_EQ(test::check_plans(test::plans_of(torus, shape_of(ranks, ranks_per_node, count, 100))), "")
          << ranks << " ranks, " << ranks_per_node << " a node, count " << count;
    }
  }
}

TEST(Torus, SendsFewerMessagesThanARingAndNoMoreBytes) {
  for (const auto& [columns, rows] : {std::pair(2, 4), {4, 2}, {4, 4}, {3, 4}}) {
    const int ranks = columns * rows;
    const int64_t count = 1200 * ranks;
    for (const Plan& plan : test::plans_of(torus, shape_of(ranks, columns, count, count))) {
      EXPECT_EQ(test::elements_sent(plan),
                2 * (columns - 1) * count / columns + 2 * (rows - 1) * count / ranks);
      EXPECT_EQ(test::messages_sent(plan), 2 * (columns - 1) + 2 * (rows - 1));
    }
  }
}

TEST(Torus, IsARingWhereThereAreNoRows) {
  const ReductionShape shape = shape_of(7, 1, 700, 1000);
  for (const Plan& plan : test::plans_of(torus, shape)) EXPECT_EQ(test::messages_sent(plan), 12);
}

}  // namespace
}  // namespace lockstep::comm

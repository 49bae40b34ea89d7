#include "comm/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::comm {
namespace {

using testing::HasSubstr;

TEST(Topology, TellsOneMachineFromSeveral) {
  EXPECT_FALSE(on_several_machines({{0}}));
  EXPECT_FALSE(on_several_machines({{3, 3, 3}}));
  EXPECT_TRUE(on_several_machines({{0, 0, 2}}));
}

TEST(NodeLayout, IsTheNumberOfNeighbours) {
  EXPECT_EQ(node_layout({{0, 0}}).ranks_per_node, 2);
  EXPECT_EQ(node_layout({{4, 4, 0, 0, 7, 7}}).ranks_per_node, 2);
  EXPECT_EQ(node_layout({{1, 1, 1}}).ranks_per_node, 3);
  EXPECT_EQ(node_layout({{1, 1, 1}}).reason, "");
}

TEST(NodeLayout, SaysWhyItIsOne) {
  const auto expect_one = [](const std::vector<int>& nodes, const char* reason) {
    const NodeLayout layout = node_layout({nodes});
    EXPECT_EQ(layout.ranks_per_node, 1);
    EXPECT_THAT(layout.reason, HasSubstr(reason));
  };
  expect_one({0}, "one rank only");
  expect_one({0, 1, 2}, "a machine of its own");
  expect_one({0, 0, 1}, "rank 0 and of rank 2 have different numbers of ranks");
  expect_one({0, 0, 0, 1}, "rank 0 and of rank 3 have different numbers of ranks");
  expect_one({0, 1, 1, 2}, "rank 0 and of rank 1 have different numbers of ranks");
  expect_one({0, 1, 0, 1}, "rank 0 and of rank 0 have different numbers of ranks");
  expect_one({0, 0, 1, 2, 1, 2}, "ranks 2 and 3 are on different machines");
}

}  // namespace
}  // namespace lockstep::comm

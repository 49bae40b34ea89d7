#include "comm/local/local_group.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

std::vector<int> poll(Transport& transport) {
  std::vector<int> finished;
  transport.poll(finished);
  return finished;
}

/// What polling throws, or "".
std::string poll_error(Transport& transport) {
  try {
    poll(transport);
  } catch (const CommError& error) {
    return error.what();
  }
  return "";
}

class LocalPair : public testing::Test {
 protected:
  LocalGroup group_{2};
  std::unique_ptr<Transport> zero_ = group_.transport(0);
  std::unique_ptr<Transport> one_ = group_.transport(1);
};

TEST_F(LocalPair, DeliversWhicheverSideComesFirst) {
  const int sent[] = {11, 22};
  int received[] = {0, 0};
  zero_->send(1, 5, &sent[0], sizeof(int), 100);
  EXPECT_EQ(poll(*zero_), std::vector<int>{});
  one_->receive(0, 5, &received[0], sizeof(int), 200);
  EXPECT_EQ(poll(*zero_), std::vector<int>{100});
  EXPECT_EQ(poll(*one_), std::vector<int>{200});
  one_->receive(0, 6, &received[1], sizeof(int), 201);
  EXPECT_EQ(poll(*one_), std::vector<int>{});
  zero_->send(1, 6, &sent[1], sizeof(int), 101);
  EXPECT_EQ(poll(*one_), std::vector<int>{201});
  EXPECT_EQ(received[0], 11);
  EXPECT_EQ(received[1], 22);
}

TEST_F(LocalPair, MatchesByTagAndThenInOrder) {
  const int sent[] = {1, 2, 3};
  int received[] = {0, 0, 0};
  zero_->send(1, 7, &sent[0], sizeof(int), 0);
  zero_->send(1, 8, &sent[1], sizeof(int), 1);
  zero_->send(1, 7, &sent[2], sizeof(int), 2);
  one_->receive(0, 8, &received[0], sizeof(int), 0);
  one_->receive(0, 7, &received[1], sizeof(int), 1);
  one_->receive(0, 7, &received[2], sizeof(int), 2);
  EXPECT_EQ(received[0], 2);
  EXPECT_EQ(received[1], 1);
  EXPECT_EQ(received[2], 3);
}

TEST_F(LocalPair, NamesAMessageOfAnotherLength) {
  const char sent[8] = {};
  char received[16];
  zero_->send(1, 0, sent, 8, 0);
  try {
    one_->receive(0, 0, received, 16, 0);
    FAIL() << "delivered";
  } catch (const CommError& error) {
    EXPECT_STREQ(error.what(), "[transport] rank 0 sent 8 bytes where 16 were expected");
  }
}

TEST_F(LocalPair, AnAbortReachesEverybodyWithTheFirstReason) {
  group_.abort(1, "disk full");
  group_.abort(0, "something later");
  EXPECT_EQ(poll_error(*zero_), "rank 1 failed: disk full");
  EXPECT_EQ(poll_error(*one_), "rank 1 failed: disk full");
  EXPECT_THROW(zero_->send(1, 0, nullptr, 0, 0), CommError);
}

TEST_F(LocalPair, AnAbortReachesSplitGroups) {
  const auto part_zero = zero_->split(3, {0, 1});
  const auto part_one = one_->split(3, {0, 1});
  part_one->abort("gone");
  EXPECT_EQ(poll_error(*part_zero), "gone");
  EXPECT_EQ(poll_error(*zero_), "gone");
}

TEST_F(LocalPair, WhatADestroyedRankOfferedIsTakenBack) {
  {
    const int on_the_stack = 1;
    zero_->send(1, 0, &on_the_stack, sizeof(int), 0);
    zero_.reset();
  }
  int received = 0;
  one_->receive(0, 0, &received, sizeof(int), 0);
  EXPECT_EQ(poll(*one_), std::vector<int>{});
}

TEST(LocalGroup, SplitsByColour) {
  LocalGroup group(3);
  const auto a = group.transport(0);
  const auto b = group.transport(1);
  const auto c = group.transport(2);
  const auto a_part = a->split(0, {2, 0});
  EXPECT_EQ(b->split(0, {}), nullptr);
  const auto c_part = c->split(0, {2, 0});
  EXPECT_EQ(a_part->rank(), 1);
  EXPECT_EQ(c_part->rank(), 0);
  const int sent = 4;
  int received = 0;
  a_part->send(0, 0, &sent, sizeof(int), 0);
  c_part->receive(1, 0, &received, sizeof(int), 0);
  EXPECT_EQ(received, 4);
}

TEST(LocalGroup, RefusesRanksThatItDoesNotHave) {
  EXPECT_THROW(LocalGroup(0), InvalidArgument);
  LocalGroup group(2);
  EXPECT_THROW(group.transport(2), InvalidArgument);
}

}  // namespace
}  // namespace lockstep::comm

#include "data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "tests/data/error_of.h"

namespace lockstep::data {
namespace {

using Order = std::vector<int64_t>;

Order order_of(const Sampler& sampler, int64_t epoch) {
  Order order(static_cast<size_t>(sampler.size()));
  sampler.samples(epoch, 0, order);
  return order;
}

Order identity(int64_t size) {
  Order order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order sorted(Order order) {
  std::sort(order.begin(), order.end());
  return order;
}

TEST(Sampler, TheOrderIsPinned) {
  const Sampler sampler({.size = 8, .seed = 7});
  EXPECT_EQ(order_of(sampler, 0), (Order{7, 2, 3, 6, 1, 5, 4, 0}));
  EXPECT_EQ(order_of(sampler, 1), (Order{2, 0, 5, 3, 4, 6, 1, 7}));
}

TEST(Sampler, WithoutShufflingPositionsAreSamples) {
  const Sampler sampler({.size = 24, .seed = 7, .shuffle = false});
  for (int64_t epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(order_of(sampler, epoch), identity(24));
  EXPECT_EQ(sampler.sample(5, 23), 23);
}

TEST(Sampler, RanksShareOneOrderThatChangesWithTheEpoch) {
  constexpr int64_t kRanks = 3;
  std::set<Order> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    Order together;
    for (int64_t rank = 0; rank < kRanks; ++rank) {
      const Sampler of_rank({.size = 24, .seed = 1});
      for (int64_t position = rank * 8; position < (rank + 1) * 8; ++position) {
        together.push_back(of_rank.sample(epoch, position));
      }
    }
    EXPECT_EQ(together, order_of(Sampler({.size = 24, .seed = 1}), epoch));
    EXPECT_EQ(sorted(together), identity(24));
    orders.insert(together);
  }
  EXPECT_EQ(orders.size(), 3U);
}

TEST(Sampler, SeedsDiffer) {
  EXPECT_NE(order_of(Sampler({.size = 24, .seed = 1}), 0), order_of(Sampler({.size = 24, .seed = 2}), 0));
}

TEST(Sampler, ThreeResumesWithinAnEpochContinueTheSameOrder) {
  const Order unbroken = order_of(Sampler({.size = 64, .seed = 3}), 1);
  Order resumed;
  for (const auto& [first, last] : {std::pair(0, 20), {20, 31}, {31, 47}, {47, 64}}) {
    const Sampler after_restart({.size = 64, .seed = 3});
    Order part(static_cast<size_t>(last - first));
    after_restart.samples(1, first, part);
    resumed.insert(resumed.end(), part.begin(), part.end());
  }
  EXPECT_EQ(resumed, unbroken);
  EXPECT_EQ(sorted(resumed), identity(64));
}

TEST(Sampler, EpochsMayBeAskedForInAnyOrder) {
  const Sampler sampler({.size = 10, .seed = 3});
  std::vector<Order> orders;
  for (int64_t epoch = 0; epoch < 4; ++epoch) orders.push_back(order_of(sampler, epoch));
  for (const int64_t epoch : {3, 2, 3, 0, 2, 1, 1})
    EXPECT_EQ(order_of(sampler, epoch), orders[epoch]) << epoch;
}

TEST(Sampler, ThreadsMayAskForDifferentEpochs) {
  const Sampler sampler({.size = 1000, .seed = 3});
  std::vector<Order> orders(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < orders.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 20; ++repeat) orders[t] = order_of(sampler, static_cast<int64_t>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int64_t epoch = 0; epoch < 4; ++epoch) EXPECT_EQ(orders[epoch], order_of(sampler, epoch));
}

// 24,000 draws over the 24 permutations of four: each count is binomial with mean 1000 and deviation 31.
TEST(Sampler, PermutationsAreUniform) {
  const Sampler sampler({.size = 4, .seed = 11});
  std::map<Order, int> counts;
  for (int64_t epoch = 0; epoch < 24000; ++epoch) ++counts[order_of(sampler, epoch)];
  ASSERT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 5 * 31);
}

TEST(Sampler, OneSampleIsEnough) {
  EXPECT_EQ(order_of(Sampler({.size = 1}), 0), Order{0});
}

TEST(Sampler, RefusesWhatIsNotThere) {
  expect_contains(error_of<InvalidArgument>([] { Sampler({.size = 0}); }), "expected 1 to 4294967295, got 0");
  expect_contains(error_of<InvalidArgument>([] { Sampler({.size = int64_t{1} << 32}); }), "got 4294967296");
  const Sampler sampler({.size = 7});
  Order four(4);
  expect_contains(error_of<InvalidArgument>([&] { sampler.samples(0, 4, four); }),
                  "positions 4 to 7 are not all within an epoch of 7 samples");
  error_of<InvalidArgument>([&] { sampler.sample(0, 7); });
  error_of<InvalidArgument>([&] { sampler.sample(0, -1); });
  expect_contains(error_of<InvalidArgument>([&] { sampler.sample(-1, 0); }),
                  "epoch: expected 0 or more, got -1");
}

}  // namespace
}  // namespace lockstep::data

#include "parallel/slot_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "runtime/error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

constexpr int kSlots = 16;

double value(int slot, size_t column) {
  return std::sin(slot * 7.0 + static_cast<double>(column)) * 1e8 + 1e-8;
}

std::vector<double> sums_on(int ranks, int occupied_from) {
  std::vector<double> result;
  std::mutex mutex;
  test::run_ranks(ranks, [&](comm::Communicator& communicator) {
    SlotSums sums(3, kSlots, communicator);
    const auto [first, last] = comm::rank_leaves(kSlots, ranks, communicator.rank());
    for (int slot = std::max(first, occupied_from); slot < last; ++slot) {
      for (size_t i = 0; i < 3; ++i) sums.row(slot)[i] += value(slot, i);
    }
    const std::vector<double> total = sums.reduce("test");
    const std::lock_guard lock(mutex);
    if (result.empty()) result = total;
    EXPECT_EQ(result, total) << "ranks disagree";
  });
  return result;
}

TEST(SlotSums, TheSameBitsOnAnyNumberOfRanks) {
  for (const int occupied_from : {0, 5, 15}) {
    const std::vector<double> alone = sums_on(1, occupied_from);
    for (const int ranks : {2, 3, 4, 5, 7, 8, 16}) EXPECT_EQ(sums_on(ranks, occupied_from), alone) << ranks;
  }
}

TEST(SlotSums, AddInTreeOrder) {
  const auto node = [](const auto& self, int level, int index) -> double {
    if (level == 0) return value(index, 0);
    return self(self, level - 1, 2 * index) + self(self, level - 1, 2 * index + 1);
  };
  EXPECT_EQ(sums_on(3, 0)[0], node(node, 4, 0));
}

TEST(SlotSums, AnotherRanksSlotIsRefused) {
  test::run_ranks(2, [&](comm::Communicator& communicator) {
    SlotSums sums(1, kSlots, communicator);
    EXPECT_THROW(sums.row(communicator.rank() == 0 ? 8 : 7), Error);
  });
}

}  // namespace
}  // namespace lockstep::parallel

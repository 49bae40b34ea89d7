#include "parallel/rank_zero.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

TEST(RankZero, OnlyRankZeroWorks) {
  std::atomic<int> calls{0};
  test::run_ranks(4, [&](comm::Communicator& communicator) {
    on_rank_zero(communicator, "save", {}, [&] {
      EXPECT_EQ(communicator.rank(), 0);
      ++calls;
    });
    EXPECT_EQ(calls, 1) << "a rank went on before the work was done";
  });
}

TEST(RankZero, EveryRankThrowsWhatRankZeroThrew) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    test::expect_error<DataError>(
        [&] { on_rank_zero(communicator, "read", {}, [] { throw DataError("[idx] x.gz is cut"); }); },
        "[idx] x.gz is cut");
    test::expect_error<ConfigError>(
        [&] { on_rank_zero(communicator, "read", {}, [] { throw ConfigError("bad value"); }); }, "bad value");
    test::expect_error<Error>(
        [&] { on_rank_zero(communicator, "read", {}, [] { throw std::runtime_error("disk full"); }); },
        "disk full");
    communicator.barrier();  // the communicator lives on
  });
}

TEST(RankZero, LongWorkDoesNotCountAgainstTheCollectiveTimeout) {
  test::RunOptions options;
  options.host.timeout = std::chrono::milliseconds(100);
  test::run_ranks(
      3,
      [&](comm::Communicator& communicator) {
        on_rank_zero(communicator, "save", std::chrono::seconds(20),
                     [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); });
      },
      options);
}

TEST(RankZero, TextReachesEveryRank) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    EXPECT_EQ(broadcast_text(communicator, communicator.rank() == 0 ? "runs/one" : "other"), "runs/one");
    EXPECT_EQ(broadcast_text(communicator, ""), "");
  });
}

TEST(RankZero, GathersTextsOfAnyLengthInTheOrderOfTheRanks) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    const std::string mine(static_cast<size_t>(1000 * communicator.rank()), 'a');
    const std::vector<std::string> texts = gather_on_rank_zero(communicator, mine, "texts");
    if (communicator.rank() == 0) {
      EXPECT_EQ(texts, (std::vector<std::string>{"", std::string(1000, 'a'), std::string(2000, 'a')}));
    } else {
      EXPECT_TRUE(texts.empty());
    }
  });
}

}  // namespace
}  // namespace lockstep::parallel

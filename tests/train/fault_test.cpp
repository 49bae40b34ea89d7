#include "train/fault.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::train {
namespace {

TEST(Fault, MeetsOneRankAtOneStep) {
  TrainConfig::Fault fault;
  fault.set_kind(TrainConfig::Fault::THROW);
  fault.set_rank(1);
  fault.set_step(3);
  test::run_ranks(2, [&](comm::Communicator& communicator) {
    EXPECT_NO_THROW(inject_fault(fault, communicator, 2));
    if (communicator.rank() == 1) {
      EXPECT_THROW(inject_fault(fault, communicator, 3), Error);
    } else {
      EXPECT_NO_THROW(inject_fault(fault, communicator, 3));
    }
  });
}

TEST(FaultDeathTest, EndsTheProcessAsAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto inject = [](TrainConfig::Fault::Kind kind) {
    TrainConfig::Fault fault;
    fault.set_kind(kind);
    test::run_ranks(1, [&](comm::Communicator& communicator) { inject_fault(fault, communicator, 1); });
  };
  EXPECT_EXIT(inject(TrainConfig::Fault::EXIT), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(inject(TrainConfig::Fault::KILL), testing::KilledBySignal(SIGKILL), "");
}

TEST(Fault, NoneIsTheDefault) {
  test::run_ranks(1, [](comm::Communicator& communicator) {
    TrainConfig::Fault fault;
    fault.set_step(1);
    EXPECT_NO_THROW(inject_fault(fault, communicator, 1));
  });
}

}  // namespace
}  // namespace lockstep::train

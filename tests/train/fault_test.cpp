#include "train/fault.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::train {
namespace {

TEST(Fault, MeetsOneRankAtOneStep) {
  TrainConfig::Fault fault;
  fault.set_kind(TrainConfig::Fault::THROW);
  fault.set_rank(1);
  fault.set_step(3);
  test::run_ranks(2, [&](comm::Communicator& communicator) {
    EXPECT_NO_THROW(inject_fault(fault, communicator, 2, {}));
    if (communicator.rank() == 1) {
      EXPECT_THROW(inject_fault(fault, communicator, 3, {}), Error);
    } else {
      EXPECT_NO_THROW(inject_fault(fault, communicator, 3, {}));
    }
  });
}

TEST(FaultDeathTest, EndsTheProcessAsAsked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto inject = [](TrainConfig::Fault::Kind kind) {
    TrainConfig::Fault fault;
    fault.set_kind(kind);
    test::run_ranks(1, [&](comm::Communicator& communicator) { inject_fault(fault, communicator, 1, {}); });
  };
  EXPECT_EXIT(inject(TrainConfig::Fault::EXIT), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(inject(TrainConfig::Fault::KILL), testing::KilledBySignal(SIGKILL), "");
}

TEST(Fault, NoneIsTheDefault) {
  test::run_ranks(1, [](comm::Communicator& communicator) {
    TrainConfig::Fault fault;
    fault.set_step(1);
    EXPECT_NO_THROW(inject_fault(fault, communicator, 1, {}));
  });
}

class FaultyParameter : public ::testing::Test {
 protected:
  FaultyParameter() {
    for (Parameter* parameter : parameters_) parameter->value.set_requires_grad(true);
    fault_.set_rank(1);
    fault_.set_step(3);
  }

  /// Of a and b at a step of a rank, where the loss is their sum.
  std::vector<std::vector<float>> gradients(int rank, int64_t step) {
    std::vector<std::vector<float>> result;
    for (Parameter* parameter : parameters_) parameter->value.leaf_gradient().clear();
    backward(with_faulty_gradient(fault_, rank, step, parameters_,
                                  ops::add(ops::sum(a_.value), ops::sum(b_.value))));
    for (Parameter* parameter : parameters_) result.push_back(parameter->value.grad().to_vector<float>());
    return result;
  }

  Parameter a_{"a", Tensor::full({2}, 1), {}};
  Parameter b_{"b", Tensor::full({2}, 1), {}};
  std::vector<Parameter*> parameters_{&a_, &b_};
  TrainConfig::Fault fault_;
};

TEST_F(FaultyParameter, AnInfiniteGradientInOneElementOfOneParameter) {
  fault_.set_kind(TrainConfig::Fault::INFINITE_GRADIENT);
  fault_.set_parameter("b");
  EXPECT_EQ(gradients(1, 3), (std::vector<std::vector<float>>{{1, 1}, {HUGE_VALF, 1}}));
  EXPECT_EQ(gradients(0, 3), (std::vector<std::vector<float>>{{1, 1}, {1, 1}})) << "another rank";
  EXPECT_EQ(gradients(1, 2), (std::vector<std::vector<float>>{{1, 1}, {1, 1}})) << "another step";
  EXPECT_EQ(gradients(1, 4), (std::vector<std::vector<float>>{{1, 1}, {1, 1}}));
}

TEST_F(FaultyParameter, ANaNGradientForSomeSteps) {
  fault_.set_kind(TrainConfig::Fault::NAN_GRADIENT);
  fault_.set_steps(2);
  for (const int64_t step : {3, 4}) {
    EXPECT_TRUE(std::isnan(gradients(1, step)[0][0])) << step << ": the first parameter's";
    EXPECT_EQ(gradients(1, step)[0][1], 1);
  }
  EXPECT_EQ(gradients(1, 5)[0][0], 1);
}

TEST_F(FaultyParameter, ANaNInAWeight) {
  fault_.set_kind(TrainConfig::Fault::NAN_WEIGHT);
  fault_.set_parameter("b");
  test::run_ranks(2, [&](comm::Communicator& communicator) {
    if (communicator.rank() == 1) inject_fault(fault_, communicator, 3, parameters_);
  });
  EXPECT_TRUE(std::isnan(b_.value.data<float>()[0]));
  EXPECT_EQ(a_.value.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST_F(FaultyParameter, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  fault_.set_kind(TrainConfig::Fault::NAN_GRADIENT);
  fault_.set_parameter("c");
  test::expect_error<ConfigError>([&] { gradients(1, 3); }, "known: a, b");
}

}  // namespace
}  // namespace lockstep::train

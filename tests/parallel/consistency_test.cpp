#include "parallel/consistency.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

constexpr std::chrono::seconds kTimeout{30};

TEST(CheckFacts, EqualFactsPass) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    check_facts(communicator, {{"seed", "1"}, {"empty", ""}}, kTimeout);
    check_facts(communicator, machine_facts(), kTimeout);
  });
}

TEST(CheckFacts, EveryRankNamesTheFirstDifference) {
  test::run_ranks(4, [&](comm::Communicator& communicator) {
    const std::string lr = communicator.rank() == 2 ? "0.2" : "0.1";
    test::expect_error<ConfigError>(
        [&] {
          check_facts(communicator, {{"seed", "1"}, {"optimizer.lr", lr}, {"epochs", lr}}, kTimeout);
        },
        "rank 2 differs from rank 0 in 'optimizer.lr': 0.2, rank 0 has 0.1");
  });
}

TEST(CheckFacts, AMissingFactIsADifference) {
  test::run_ranks(2, [&](comm::Communicator& communicator) {
    std::vector<Fact> facts{{"a", "1"}};
    if (communicator.rank() == 0) facts.emplace_back("b", "2");
    test::expect_error<ConfigError>([&] { check_facts(communicator, facts, kTimeout); },
                                    "rank 1 differs from rank 0 in 'b': (absent), rank 0 has 2");
  });
}

TEST(MachineFacts, NameProcessorAndBuild) {
  const std::vector<Fact> facts = machine_facts();
  EXPECT_EQ(facts[0].first, "build");
  for (const auto& [name, value] : facts) EXPECT_FALSE(value.empty()) << name;
}

TEST(ParameterFacts, NameEveryShape) {
  Parameter weight{"fc.weight", Tensor::zeros({2, 3}), {}};
  EXPECT_EQ(parameter_facts({&weight})[1], (Fact{"parameter fc.weight", "[2, 3]"}));
}

TEST(CheckReplicas, NamesRankStepAndTensor) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    check_replicas(communicator, {{"a", 1}, {"b", 2}}, 4);
    const uint64_t flipped = communicator.rank() == 1 ? 3 : 2;
    test::expect_error<Error>(
        [&] {
          check_replicas(communicator, {{"a", 1}, {"b", flipped}}, 5);
        },
        "at step 5 tensor 'b' of rank 1 has other bits");
  });
}

TEST(BroadcastTensors, EveryRankHasRankZerosValues) {
  test::run_ranks(3, [&](comm::Communicator& communicator) {
    const auto rank = static_cast<float>(communicator.rank());
    Tensor weights = Tensor::full({5}, rank + 1);
    Tensor counter = Tensor::full({}, communicator.rank() + 7, DType::kI64);
    const uint32_t version = weights.version();
    broadcast_tensors(communicator, {weights, counter});
    EXPECT_EQ(weights.to_vector<float>(), std::vector<float>(5, 1));
    EXPECT_EQ(counter.item(), 7);
    EXPECT_GT(weights.version(), version);
  });
}

}  // namespace
}  // namespace lockstep::parallel

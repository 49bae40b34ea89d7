#include "train/saved_model.h"

#include <gmock/gmock.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/train/trainer_fixture.h"
#include "train/assembly.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

using SavedModelTest = TrainerTest;

TEST_F(SavedModelTest, EvaluatesAsTrainingDidOnAnyNumberOfRanks) {
  train(2, "run");
  for (const int ranks : {1, 3}) {
    test::run_ranks(ranks, [&](comm::Communicator& communicator) {
      const Measured measured = evaluate_saved_model({.run = path("run")}, communicator);
      EXPECT_EQ(measured.loss, figures("run", "eval_loss").back()) << ranks;
      EXPECT_EQ(measured.metrics[0].second, figures("run", "eval_accuracy").back()) << ranks;
      EXPECT_EQ(measured.weight, 21);
    });
  }
}

TEST_F(SavedModelTest, RanksThatReadOtherFilesAreTold) {
  train(1, "run");
  TrainConfig other = small_run();
  other.mutable_optimizer()->set_lr(0.1);
  train(1, "other", other);
  const auto difference = [&](const SavedModelOptions& rank0, const SavedModelOptions& rank1) {
    return test::run_failing_ranks(2, [&](comm::Communicator& communicator) {
      evaluate_saved_model(communicator.rank() == 0 ? rank0 : rank1, communicator);
    })[0];
  };
  const SavedModelOptions run{.run = path("run")};
  EXPECT_THAT(difference(run, {.run = path("run"), .weights = path("other")}),
              ::testing::HasSubstr("rank 1 differs from rank 0 in 'weights of "));
  EXPECT_THAT(difference(run, {.run = path("run"), .sets = {"data.test_limit=7"}}),
              ::testing::HasSubstr("'data.test_limit': 7, rank 0 has 0"));
}

TEST_F(SavedModelTest, WeightsMustBeTheModels) {
  train(1, "run");
  const SavedModelOptions options{.run = path("run"), .sets = {"data.classes=3"}};
  const data::SampleSpec spec = make_source(saved_config(options), data::Split::kTest)->spec();
  test::expect_error<DataError>([&] { load_saved_model(options, spec); },
                                "different: fc2.weight (expected f32 [3, 8], got f32 [4, 8])");
  test::expect_error<ConfigError>([&] { saved_config({.run = path("run"), .sets = {"epochs=-1"}}); },
                                  "epochs = -1");
  test::expect_error<ConfigError>([&] { saved_config({.run = path("none")}); }, "none/config.textproto");
}

}  // namespace
}  // namespace lockstep::train

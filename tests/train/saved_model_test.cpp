#include "train/saved_model.h"

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

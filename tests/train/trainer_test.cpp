#include "train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/train/trainer_fixture.h"
#include "train/checkpoint.h"
#include "train/metrics.h"

namespace lockstep::train {
namespace {

TEST_F(TrainerTest, TheSameBitsOnAnyNumberOfRanks) {
  train(1, "np1");
  ASSERT_FALSE(weights("np1").empty());
  for (const int ranks : {2, 3, 4, 8}) {
    const std::string name = "np" + std::to_string(ranks);
    train(ranks, name);
    EXPECT_EQ(weights(name), weights("np1")) << ranks;
    EXPECT_EQ(losses(name), losses("np1")) << ranks;
  }
}

TEST_F(TrainerTest, LearnsFromTheData) {
  TrainConfig config = small_run();
  config.set_epochs(8);
  config.set_micro_batch(8);
  config.mutable_model()->set_dropout(0);
  config.mutable_data()->clear_augment();
  config.mutable_data()->mutable_synthetic()->set_train_samples(160);
  config.mutable_checkpoint()->set_every_steps(0);
  train(2, "run", config);
  EXPECT_LT(losses("run").back(), 0.25 * losses("run").front());
}

TEST_F(TrainerTest, ResumedAtEveryStepOnOtherRanksItEndsWithTheSameBits) {
  train(2, "unbroken");
  EXPECT_EQ(losses("unbroken").size(), 8U) << "50 samples in batches of 16, twice";
  for (int64_t step = 1; step < 8; ++step) {
    TrainerOptions options;
    options.stop_at_step = step;
    options.resume = step == 1 ? "" : "latest";
    const int ranks = 1 + static_cast<int>(step) % 4;
    EXPECT_EQ(train(ranks, "broken", small_run(), options), Outcome::kStopped);
  }
  TrainerOptions options;
  options.resume = "latest";
  EXPECT_EQ(train(3, "broken", small_run(), options), Outcome::kFinished);
  EXPECT_EQ(weights("broken"), weights("unbroken"));
  EXPECT_EQ(losses("broken"), losses("unbroken"));
}

TEST_F(TrainerTest, AtTheStepToStopAtAResumedRunStopsAgain) {
  TrainerOptions options;
  options.stop_at_step = 3;
  train(2, "run", small_run(), options);
  options.resume = "latest";
  EXPECT_EQ(train(1, "run", small_run(), options), Outcome::kStopped);
  EXPECT_EQ(losses("run").size(), 3U);
  options.resume = path("run");
  EXPECT_EQ(train(2, "elsewhere", small_run(), options), Outcome::kStopped);
  EXPECT_TRUE(std::filesystem::exists(path("elsewhere/checkpoints/step-00000003")));
}

TEST_F(TrainerTest, ARequestOfAnyRankStopsAllAtTheSameStep) {
  requests_.stop = true;
  EXPECT_EQ(train(3, "run"), Outcome::kStopped);
  EXPECT_EQ(losses("run").size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(path("run/checkpoints/step-00000001")));
  EXPECT_FALSE(std::filesystem::exists(path("run/model.safetensors"))) << "the run is not finished";
}

TEST_F(TrainerTest, ASaveRequestSavesAndTheRunGoesOn) {
  TrainConfig config = small_run();
  config.mutable_checkpoint()->set_every_steps(0);
  requests_.save = true;
  EXPECT_EQ(train(2, "run", config), Outcome::kFinished);
  EXPECT_TRUE(std::filesystem::exists(path("run/checkpoints/step-00000001")));
  EXPECT_FALSE(requests_.save);
}

TEST_F(TrainerTest, ACheckpointHoldsEverythingThatDecidesTheNextStep) {
  TrainerOptions options;
  options.stop_at_step = 5;
  options.threads = 3;
  train(2, "run", small_run(), options);
  const Checkpoint checkpoint = load_checkpoint(path("run/checkpoints/step-00000005"));
  EXPECT_EQ(checkpoint.state.step(), 5);
  EXPECT_EQ(checkpoint.state.epoch(), 1);
  EXPECT_EQ(checkpoint.state.sample_offset(), 16);
  EXPECT_EQ(checkpoint.state.samples(), 66);
  EXPECT_EQ(checkpoint.state.threads(), 3);
  EXPECT_EQ(checkpoint.state.config().optimizer().lr(), 0.05);
  const auto has = [](const std::vector<NamedTensor>& tensors, const std::string& name) {
    for (const NamedTensor& tensor : tensors) {
      if (tensor.name == name) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(checkpoint.model, "bn1.running_var"));
  EXPECT_TRUE(has(checkpoint.model, "bn1.num_batches_tracked"));
  EXPECT_TRUE(has(checkpoint.optimizer, "fc2.weight.momentum_buffer"));
}

TEST_F(TrainerTest, ALossThatIsNotFiniteEndsAllRanksWithStepAndParameter) {
  TrainConfig config = small_run();
  config.mutable_optimizer()->set_lr(1e30);
  config.mutable_schedule()->set_warmup_epochs(0);
  const std::vector<std::string> errors = test::run_failing_ranks(2, [&](comm::Communicator& communicator) {
    TrainerOptions options;
    options.output = path("run");
    Trainer(config, communicator, requests_, options).run();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("at step 2 the loss is"), std::string::npos) << error;
    EXPECT_NE(error.find("weight"), std::string::npos) << error;
  }
}

TEST_F(TrainerTest, AGradientThatOverflowsIsNotTaken) {
  TrainConfig config = small_run();
  config.set_loss_scale(1e38);
  const std::vector<std::string> errors = test::run_failing_ranks(2, [&](comm::Communicator& communicator) {
    TrainerOptions options;
    options.output = path("run");
    Trainer(config, communicator, requests_, options).run();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("at step 1 the loss is 1."), std::string::npos) << error;
    EXPECT_NE(error.find("gradient is not finite: fc"), std::string::npos) << error;
    EXPECT_NE(error.find("smaller loss_scale"), std::string::npos) << error;
  }
  EXPECT_FALSE(std::filesystem::exists(path("run/checkpoints")));
}

TEST_F(TrainerTest, AFinishedRunThatLostItsModelGetsItAgain) {
  train(2, "run");
  const std::string model = weights("run");
  std::filesystem::remove(path("run/model.safetensors"));
  TrainerOptions options;
  options.resume = "latest";
  EXPECT_EQ(train(3, "run", small_run(), options), Outcome::kFinished);
  EXPECT_EQ(weights("run"), model);
}

TEST_F(TrainerTest, AResumedRunKeepsTheNumberOfThreadsThatWasChosen) {
  TrainConfig config = small_run();
  config.set_threads(0);
  TrainerOptions options;
  options.threads = 3;
  options.stop_at_step = 2;
  train(2, "run", config, options);
  options.threads = 1;
  options.resume = "latest";
  options.stop_at_step = 4;
  train(1, "run", config, options);
  EXPECT_EQ(load_checkpoint(path("run/checkpoints/step-00000004")).state.threads(), 3);
  config.set_threads(2);
  options.threads = 2;
  options.stop_at_step = 6;
  train(1, "run", config, options);
  EXPECT_EQ(load_checkpoint(path("run/checkpoints/step-00000006")).state.threads(), 2) << "asked for";
}

TEST_F(TrainerTest, ACheckpointBehindTheEndOfTheDataIsRefused) {
  TrainerOptions options;
  options.stop_at_step = 3;  // of an epoch of 50 samples 48 are done
  train(1, "run", small_run(), options);
  TrainConfig config = small_run();
  config.mutable_data()->set_train_limit(40);
  options.resume = "latest";
  test::expect_error<Error>([&] { train(2, "run", config, options); },
                            "stands at sample 48 of its epoch, but there are only 40 training samples now");
}

TEST_F(TrainerTest, WhatIsNoMetricInTheMetricsHasAReservedName) {
  train(1, "run");
  size_t metrics = 0;
  for (const MetricsLine& line : read_metrics(path("run/metrics.jsonl"))) {
    for (const auto& [field, value] : line.fields.items()) {
      const std::string name = field.starts_with("eval_") ? field.substr(5) : field;
      const bool reserved = std::find(kOwnFields.begin(), kOwnFields.end(), name) != kOwnFields.end();
      EXPECT_TRUE(reserved || name == "accuracy") << field;
      metrics += reserved ? 0 : 1;
    }
  }
  EXPECT_EQ(metrics, 8U + 2U) << "of every step and evaluation";
}

TEST_F(TrainerTest, EveryStepTellsWhereItsTimeWent) {
  train(2, "run");
  for (const char* phase : {"forward_seconds", "backward_seconds", "communication_seconds",
                            "optimizer_seconds", "other_seconds", "memory_bytes"}) {
    const std::vector<double> values = figures("run", phase);
    EXPECT_EQ(values.size(), losses("run").size()) << phase;
    EXPECT_GE(*std::ranges::min_element(values), 0) << phase << ": rank 0 has no samples in some steps";
    EXPECT_GT(*std::ranges::max_element(values), 0) << phase;
  }
}

TEST_F(TrainerTest, TheLogTellsWhatTheRunIs) {
  train(2, "run");
  std::ifstream file(path("run/train.log"));
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  for (const char* words :
       {"2 ranks x 1 thread", "batch: 16 samples", "learning rate: 0.05", "run directory"}) {
    EXPECT_NE(log.find(words), std::string::npos) << words << " is not in\n" << log;
  }
}

TEST_F(TrainerTest, RanksWithOtherSettingsAreToldTheField) {
  const std::vector<std::string> errors = test::run_failing_ranks(3, [&](comm::Communicator& communicator) {
    TrainConfig config = small_run();
    if (communicator.rank() == 1) config.set_seed(2);
    TrainerOptions options;
    options.output = path("run");
    Trainer(config, communicator, requests_, options).run();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("rank 1 differs from rank 0 in 'seed': 2, rank 0 has 1"), std::string::npos)
        << error;
  }
  EXPECT_FALSE(std::filesystem::exists(path("run"))) << "nothing is written before the ranks agree";
}

}  // namespace
}  // namespace lockstep::train

// Steps that all ranks skip together, and runs that end because no loss scale helps.
#include <cmath>
#include <filesystem>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "runtime/error.h"
#include "tests/train/trainer_fixture.h"
#include "train/checkpoint.h"
#include "train/losses.h"

namespace lockstep::train {
namespace {

using Fault = TrainConfig::Fault;

TrainConfig scaled_run() {
  TrainConfig config = small_run();
  config.set_loss_scale(65536);
  config.mutable_loss_scaling()->set_mode(TrainConfig::LossScaling::DYNAMIC);
  return config;
}

TrainConfig with_fault(TrainConfig config, Fault::Kind kind, int rank, int64_t step,
                       const std::string& parameter = "") {
  Fault& fault = *config.mutable_fault();
  fault.set_kind(kind);
  fault.set_rank(rank);
  fault.set_step(step);
  fault.set_parameter(parameter);
  return config;
}

/// cross_entropy, but a thread's first call has an infinite gradient, of one sign or the other.
template <bool kNegative>
ops::LossResult infinite_at_first(const Tensor& output, const Tensor& target, const LossOptions& options) {
  ops::LossResult loss = losses().front().compute(output, target, options);
  thread_local bool first = true;
  if (first) loss.sum = ops::add(loss.sum, ops::scale(ops::sum(output), kNegative ? -HUGE_VAL : HUGE_VAL));
  first = false;
  return loss;
}

/// cross_entropy with great gradients.
ops::LossResult steep(const Tensor& output, const Tensor& target, const LossOptions& options) {
  ops::LossResult loss = losses().front().compute(output, target, options);
  loss.sum = ops::scale(loss.sum, 0x1p28);
  return loss;
}

class TrainerLossScaling : public TrainerTest {
 protected:
  std::string log(const std::string& name) const {
    std::ifstream file(path(name) + "/train.log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool logged(const std::string& name, const std::string& words) const {
    return log(name).find(words) != std::string::npos;
  }
  std::string at_step(const std::string& name, int64_t step, const char* file) const {
    return weights(name, "checkpoints/step-0000000" + std::to_string(step) + "/" + file);
  }
  CheckpointState state_at(const std::string& name, int64_t step) const {
    return load_checkpoint(path(name) + "/checkpoints/step-0000000" + std::to_string(step)).state;
  }

  /// Trains until `step`, of which the last one must have been skipped by all of four ranks, and goes on to
  /// the next. Hashes of all ranks' weights are compared at every step.
  void expect_skipped(const std::string& name, TrainConfig config, int64_t step, const std::string& words) {
    config.set_average_decay(0.5);
    train(4, name, config);
    EXPECT_TRUE(logged(name, words)) << log(name);
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "average.safetensors"}) {
      EXPECT_EQ(at_step(name, step, file), at_step(name, step - 1, file)) << file << " was touched";
      EXPECT_NE(at_step(name, step + 1, file), at_step(name, step, file)) << file << ": the run stands still";
    }
    const std::vector<double> scales = figures(name, "loss_scale");
    const std::vector<double> skipped = figures(name, "skipped_steps");
    for (size_t i = 0; i < scales.size(); ++i) {
      const bool before = static_cast<int64_t>(i) < step;  // line i is of step i + 1
      EXPECT_EQ(scales[i], before ? 65536 : 32768) << "step " << i + 1;
      EXPECT_EQ(skipped[i], static_cast<int64_t>(i) + 1 < step ? 0 : 1) << "step " << i + 1;
    }
    EXPECT_EQ(scales.size(), 8U);
    EXPECT_EQ(state_at(name, step + 1).step(), step + 1);
    EXPECT_EQ(state_at(name, step + 1).schedule().step(), step);
  }
};

class TrainerWithCodec : public TrainerLossScaling,
                         public ::testing::WithParamInterface<TrainConfig::Comm::Codec> {
 protected:
  static TrainConfig coded(TrainConfig config) {
    config.mutable_comm()->set_codec(GetParam());
    return config;
  }
};

TEST_P(TrainerWithCodec, APowerOfTwoThatOverflowsNothingChangesNoBit) {
  train(2, "scaled", coded(scaled_run()));
  train(2, "plain", coded(small_run()));
  EXPECT_TRUE(weights("scaled") == weights("plain"));
  EXPECT_EQ(losses("scaled"), losses("plain"));
  EXPECT_EQ(figures("scaled", "loss_scale"), std::vector<double>(8, 65536));
  EXPECT_EQ(figures("scaled", "skipped_steps"), std::vector<double>(8, 0));
  EXPECT_TRUE(figures("plain", "loss_scale").empty());
}

TEST_F(TrainerLossScaling, OneInfinityOnOneRankIsSkippedByAll) {
  expect_skipped(
      "inf", with_fault(scaled_run(), Fault::INFINITE_GRADIENT, 3, 5, "fc2.bias"), 5,
      "step 5: non-finite gradient of fc2.bias on rank 3; step skipped, loss scale 65536 -> 32768 (1 "
      "skip in a row)");
}

TEST_F(TrainerLossScaling, OneNaNOnOneRankIsSkippedByAll) {
  expect_skipped("nan", with_fault(scaled_run(), Fault::NAN_GRADIENT, 3, 5, "fc2.weight"), 5,
                 "step 5: non-finite gradient of fc2.weight on rank 3");
}

TEST_F(TrainerLossScaling, AnInfinityInTheLastBucketIsSkippedByAll) {
  TrainConfig config = with_fault(scaled_run(), Fault::INFINITE_GRADIENT, 3, 5, "conv1.weight");
  config.mutable_comm()->set_bucket_bytes(1024);
  expect_skipped("last", config, 5, "step 5: non-finite gradient of conv1.weight on rank 3");
}

TEST_F(TrainerLossScaling, InfinitiesOfBothSignsOnTwoRanksAreSkippedByAll) {
  const TrainConfig config = [] {
    TrainConfig infinite = scaled_run();
    infinite.mutable_loss()->set_name("infinite");
    return infinite;
  }();
  test::run_ranks(4, [&](comm::Communicator& communicator) {
    TrainerOptions options;
    options.output = path("both");
    const auto usual = train::losses().front().compute;
    const auto compute = communicator.rank() == 0   ? infinite_at_first<true>
                         : communicator.rank() == 3 ? infinite_at_first<false>
                                                    : usual;
    options.own.losses = {{"infinite", compute}};
    Trainer(config, communicator, requests_, options).run();
  });
  EXPECT_TRUE(logged("both", "step 1: non-finite gradient of conv1.weight on ranks 0 and 3")) << log("both");
  EXPECT_EQ(figures("both", "skipped_steps"), std::vector<double>(8, 1));
  EXPECT_EQ(figures("both", "loss_scale").back(), 32768);
}

TEST_F(TrainerLossScaling, TheScheduleCountsTheStepsThatWereTaken) {
  TrainConfig config = with_fault(scaled_run(), Fault::INFINITE_GRADIENT, 1, 1);
  config.mutable_fault()->set_steps(3);
  config.set_epochs(0);
  config.set_max_steps(10);
  config.mutable_optimizer()->set_lr(1);
  config.mutable_optimizer()->set_momentum(0);
  config.mutable_schedule()->set_warmup_epochs(2.5);  // 10 steps
  train(2, "run", config);
  const std::vector<double> rates = figures("run", "lr");
  ASSERT_EQ(rates.size(), 10U);
  for (size_t step = 1; step <= 10; ++step) {
    EXPECT_DOUBLE_EQ(rates[step - 1], step <= 3 ? 0.1 : 0.1 * static_cast<double>(step - 3));
  }
  EXPECT_EQ(figures("run", "skipped_steps"), (std::vector<double>{1, 2, 3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_TRUE(logged("run",
                     "step 3: non-finite gradient of conv1.weight on rank 1; step skipped, loss scale "
                     "16384 -> 8192 (3 skips in a row)"));
  const CheckpointState last = load_checkpoint(path("run/checkpoints/step-00000010")).state;
  EXPECT_EQ(last.step(), 10);
  EXPECT_EQ(last.schedule().step(), 7);
  EXPECT_EQ(last.loss_scaler().skipped_steps(), 3);
  EXPECT_EQ(last.samples(), 50 + 50 + 32) << "of all ten";
}

TEST_F(TrainerLossScaling, ABrokenRunWithSkipsEndsWithTheSameBits) {
  TrainConfig config = with_fault(scaled_run(), Fault::NAN_GRADIENT, 0, 2);
  config.mutable_fault()->set_steps(2);
  config.mutable_loss_scaling()->set_growth_interval(2);
  config.set_average_decay(0.5);
  train(2, "unbroken", config);
  EXPECT_EQ(figures("unbroken", "loss_scale"),
            (std::vector<double>{65536, 65536, 32768, 16384, 16384, 32768, 32768, 65536}));
  TrainerOptions options;
  for (int64_t step = 1; step < 8; ++step) {
    options.stop_at_step = step;
    options.resume = step == 1 ? "" : "latest";
    EXPECT_EQ(train(1 + static_cast<int>(step) % 4, "broken", config, options), Outcome::kStopped);
  }
  options = {};
  options.resume = "latest";
  train(3, "broken", config, options);
  EXPECT_TRUE(weights("broken") == weights("unbroken"));
  for (const char* figure : {"loss", "lr", "loss_scale", "skipped_steps"}) {
    EXPECT_EQ(figures("broken", figure), figures("unbroken", figure)) << figure;
  }
}

TEST_P(TrainerWithCodec, ARealOverflowBacksOffAlikeOnAnyNumberOfRanks) {
  TrainConfig config = coded(scaled_run());
  config.mutable_loss()->set_name("steep");
  config.mutable_optimizer()->set_lr(0x1p-33);
  config.mutable_loss_scaling()->set_cap(0x1p100);
  config.set_loss_scale(0x1p100);
  config.mutable_loss_scaling()->set_growth_interval(3);
  TrainerOptions options;
  options.own.losses = {{"steep", steep}};
  train(1, "np1", config, options);
  const std::vector<double> skipped = figures("np1", "skipped_steps");
  EXPECT_GT(skipped.back(), 1) << "it grows into the overflow again";
  EXPECT_LT(skipped.back(), 8);
  for (const int ranks : {2, 3, 4}) {
    const std::string name = "np" + std::to_string(ranks);
    train(ranks, name, config, options);
    EXPECT_TRUE(weights(name) == weights("np1")) << ranks;
    for (const char* figure : {"loss", "lr", "loss_scale", "skipped_steps"}) {
      EXPECT_EQ(figures(name, figure), figures("np1", figure)) << figure << " on " << ranks << " ranks";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, TrainerWithCodec,
                         ::testing::Values(TrainConfig::Comm::NONE, TrainConfig::Comm::FP16,
                                           TrainConfig::Comm::BF16),
                         [](const auto& test) { return TrainConfig::Comm::Codec_Name(test.param); });

class TrainerCollapse : public TrainerLossScaling {
 protected:
  /// What ends each of two ranks.
  std::vector<std::string> errors(const TrainConfig& config) {
    return test::run_failing_ranks(2, [&](comm::Communicator& communicator) {
      TrainerOptions options;
      options.output = path("run");
      Trainer(config, communicator, requests_, options).run();
    });
  }
  void expect_errors(const TrainConfig& config, const std::vector<std::string>& parts) {
    for (const std::string& error : errors(config)) {
      for (const std::string& part : parts) {
        EXPECT_NE(error.find(part), std::string::npos) << part << " is not in: " << error;
      }
    }
  }
};

TEST_F(TrainerCollapse, ANaNInAWeightEndsTheRunAfterSoManySkips) {
  TrainConfig config = with_fault(scaled_run(), Fault::NAN_WEIGHT, 0, 5, "fc1.weight");
  config.set_epochs(20);
  config.set_drop_last(true);                   // so that rank 0 has samples in every step
  config.mutable_metrics()->set_hash_every(0);  // which would see at once that only one rank has it
  config.mutable_loss_scaling()->set_floor(0.5);
  config.mutable_loss_scaling()->set_max_skips_in_a_row(17);
  config.mutable_checkpoint()->set_keep(2);
  expect_errors(config, {"at step 21 the loss is nan", "skips in a row: 17, scale 0.5, its floor 0.5",
                         "the weights themselves are not finite: fc1.weight on rank 0"});
  EXPECT_EQ(figures("run", "loss_scale").back(), 2) << "of step 20, the last one that did not end the run";
  EXPECT_TRUE(logged("run", "checkpoint of step 5 is not saved: fc1.weight is not finite")) << log("run");
  std::vector<FoundCheckpoint> found = list_checkpoints(path("run/checkpoints"));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.back().step, 4);
}

TEST_F(TrainerCollapse, AGradientThatIsNotFiniteAtTheFloorEndsTheRun) {
  TrainConfig config = with_fault(scaled_run(), Fault::INFINITE_GRADIENT, 1, 2, "fc2.bias");
  config.mutable_fault()->set_steps(100);
  config.mutable_loss_scaling()->set_floor(16384);
  expect_errors(config, {"at step 4 the loss is", "not finite: fc2.bias on rank 1",
                         "skips in a row: 3, scale 16384, its floor 16384", "a lower optimizer.lr"});
}

TEST_F(TrainerCollapse, WithoutScalingTheFirstOneEndsTheRun) {
  expect_errors(with_fault(small_run(), Fault::NAN_GRADIENT, 1, 3, "fc2.weight"),
                {"at step 3 the loss is", "gradient is not finite: fc2.weight on rank 1"});
  EXPECT_EQ(list_checkpoints(path("run/checkpoints")).back().step, 2);
}

TEST_F(TrainerCollapse, ARunDoesNotEndWellWithWeightsThatAreNotFinite) {
  TrainConfig config = with_fault(scaled_run(), Fault::NAN_WEIGHT, 0, 7, "fc2.bias");
  config.mutable_metrics()->set_hash_every(0);
  expect_errors(config, {"checkpoint of step 8 is not saved: fc2.bias is not finite"});
  EXPECT_FALSE(std::filesystem::exists(path("run/model.safetensors")));
  EXPECT_EQ(list_checkpoints(path("run/checkpoints")).back().step, 6);
}

}  // namespace
}  // namespace lockstep::train

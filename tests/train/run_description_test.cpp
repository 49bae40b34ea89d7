#include "train/run_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/small_run.h"
#include "train/assembly.h"

namespace lockstep::train {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> describe(const TrainConfig& config, const RunSize& size = {}) {
  return describe_run(config, make_plan(config, 6000), size);
}

TEST(RunDescription, NamesRanksThreadsAndWhatTheBitsDependOn) {
  TrainConfig config = small_run();
  EXPECT_THAT(describe(config)[0], HasSubstr("1 rank x 1 thread, the same bits on any number of ranks"));
  config.set_numerics(TrainConfig::FAST);
  EXPECT_THAT(describe(config, {.ranks = 3, .threads = 2})[0],
              HasSubstr("3 ranks x 2 threads, bits depend on the number of ranks"));
}

TEST(RunDescription, SaysHowRanksCommunicate) {
  const TrainConfig config = small_run();
  EXPECT_THAT(describe(config, {.ranks = 2, .communication = "by mail"}), Contains("by mail"));
  EXPECT_THAT(describe(config, {.ranks = 1, .communication = "by mail"}), Not(Contains("by mail")));
}

TEST(RunDescription, SaysWhenTheNumberOfThreadsWasChosen) {
  TrainConfig config = small_run();
  EXPECT_THAT(describe(config), Not(Contains(HasSubstr("chosen for this machine"))));
  config.set_threads(0);
  EXPECT_THAT(describe(config), Contains(HasSubstr("chosen for this machine")));
}

TEST(RunDescription, SaysWhatIsComputedIn) {
  TrainConfig config = small_run();
  EXPECT_THAT(describe(config), Contains("precision: FP32"));
  config.set_precision(TrainConfig::BF16);
  EXPECT_THAT(describe(config), Contains("precision: BF16 (weights, sums, statistics and losses in FP32)"));
}

TEST(RunDescription, SaysHowGradientsTravel) {
  TrainConfig config = small_run();
  EXPECT_THAT(describe(config), Contains("codec: NONE (gradients are added and sent in FP32)"));
  config.mutable_comm()->set_codec(TrainConfig::Comm::FP16);
  EXPECT_THAT(describe(config),
              Contains("codec: FP16 (gradients are added in FP32, rounded and sent in FP16)"));
}

TEST(RunDescription, TellsTheLossScaleIfThereIsOne) {
  TrainConfig config = small_run();
  EXPECT_THAT(describe(config), Not(Contains(HasSubstr("loss scale"))));
  config.set_loss_scale(1024);
  EXPECT_THAT(describe(config), Contains("loss scale: 1024, static"));
  config.mutable_loss_scaling()->set_mode(TrainConfig::LossScaling::DYNAMIC);
  EXPECT_THAT(
      describe(config),
      Contains("loss scale: 1024 at first, doubled after 2000 clean steps, halved where a gradient is "
               "not finite; from 1 to 16777216"));
}

TEST(RunDescription, GivesEachRanksPartOfTheBatch) {
  TrainConfig config = small_run();
  config.set_global_batch(64);
  config.set_micro_batch(8);
  EXPECT_THAT(describe(config, {.ranks = 4}),
              Contains("batch: 64 samples in all; per rank 16, accumulated over 2 micro-batches of 8"));
  config.set_global_batch(36);  // micro-batches of 8, 8, 8, 8 and 4 samples
  EXPECT_THAT(
      describe(config, {.ranks = 2}),
      Contains("batch: 36 samples in all; per rank 16 to 20, accumulated over 2 to 3 micro-batches of 8"));
}

TEST(RunDescription, GivesBaseAndScaledLearningRateAndTheRule) {
  TrainConfig config = small_run();
  config.set_global_batch(1024);
  config.mutable_optimizer()->set_lr(0.1);
  EXPECT_THAT(describe(config), Contains("learning rate: 0.1 = base 0.1, whatever the batch "
                                         "(schedule.scaling: NONE); cosine over 12 steps"));
  config.mutable_schedule()->set_scaling(TrainConfig::Schedule::LINEAR);
  config.mutable_schedule()->set_base_batch(256);
  EXPECT_THAT(describe(config), Contains("learning rate: 0.4 = base 0.1 x global_batch 1024 / base_batch 256 "
                                         "(schedule.scaling: LINEAR); cosine over 12 steps"));
}

}  // namespace
}  // namespace lockstep::train

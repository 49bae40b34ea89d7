#include "train/loss_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/config.h"

namespace lockstep::train {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TrainConfig dynamic_config() {
  TrainConfig config = default_config();
  config.set_loss_scale(1024);
  config.mutable_loss_scaling()->set_mode(TrainConfig::LossScaling::DYNAMIC);
  return config;
}

TEST(LossScaling, TheDefaultsScaleNothing) {
  EXPECT_FALSE(scales_losses(default_config()));
  const parallel::LossScaler scaler(loss_scaler_options(default_config()));
  EXPECT_FALSE(scaler.dynamic());
  EXPECT_EQ(scaler.scale(), 1);
}

TEST(LossScaling, TheScalerIsAsConfigured) {
  TrainConfig config = dynamic_config();
  EXPECT_TRUE(scales_losses(config));
  config.mutable_loss_scaling()->set_growth_interval(2);
  config.mutable_loss_scaling()->set_cap(2048);
  config.mutable_loss_scaling()->set_floor(512);
  config.mutable_loss_scaling()->set_max_skips_in_a_row(2);
  parallel::LossScaler scaler(loss_scaler_options(config));
  EXPECT_EQ(scaler.scale(), 1024);
  for (int step = 0; step < 4; ++step) scaler.update(false);
  EXPECT_EQ(scaler.scale(), 2048);
  EXPECT_EQ(scaler.update(true), parallel::LossScaler::Verdict::kSkip);
  EXPECT_EQ(scaler.update(true), parallel::LossScaler::Verdict::kCollapse);
  EXPECT_EQ(scaler.scale(), 512);
  config.mutable_loss_scaling()->set_mode(TrainConfig::LossScaling::STATIC);
  EXPECT_TRUE(scales_losses(config));
}

TEST(LossScaling, ACheckpointGivesBackTheState) {
  const parallel::LossScalerState state{
      .scale = 256, .clean_steps = 7, .skips_in_a_row = 0, .skipped_steps = 3};
  CheckpointState saved;
  *saved.mutable_loss_scaler() = to_proto(state);
  *saved.mutable_config() = dynamic_config();
  EXPECT_EQ(resumed_loss_scaler(saved, dynamic_config()), state);
  TrainConfig changed = dynamic_config();
  changed.set_loss_scale(2048);
  EXPECT_EQ(resumed_loss_scaler(saved, changed).scale, 2048) << "somebody wants another one";
  EXPECT_EQ(resumed_loss_scaler(saved, changed).skipped_steps, 3);
}

TEST(LossScaling, ACheckpointOfAnOlderBuildBeginsAnew) {
  CheckpointState saved;
  saved.mutable_config()->set_loss_scale(1024);
  EXPECT_EQ(resumed_loss_scaler(saved, dynamic_config()), parallel::LossScalerState{.scale = 1024});
}

TEST(LossScaling, ASkippedStepNamesParameterPlaceAndScale) {
  const BadStep bad{.step = 5, .loss = 0.7, .parameter = "layer3.0.conv1.weight", .place = "on rank 3"};
  EXPECT_EQ(
      skip_text(bad, 65536, {.scale = 32768, .skips_in_a_row = 1, .skipped_steps = 4}),
      "step 5: non-finite gradient of layer3.0.conv1.weight on rank 3; step skipped, loss scale 65536 -> "
      "32768 (1 skip in a row)");
  EXPECT_THAT(skip_text(bad, 1, {.scale = 0.5, .skips_in_a_row = 2}),
              EndsWith("1 -> 0.5 (2 skips in a row)"));
  EXPECT_THAT(skip_text({.step = 6, .loss = NAN}, 4, {.scale = 2, .skips_in_a_row = 1}),
              HasSubstr("step 6: the loss is nan, its gradient finite; step skipped"));
}

TEST(LossScaling, WithoutScalingTheEndIsToldAsPlainNaN) {
  const BadStep bad{.step = 2, .loss = NAN, .parameter = "fc.bias", .place = "on all 2 ranks"};
  const std::string text = collapse_text(bad, default_config(), {.skips_in_a_row = 1}, "");
  EXPECT_THAT(text, HasSubstr("[train] at step 2 the loss is nan; the first parameter whose gradient is not "
                              "finite: fc.bias on all 2 ranks; what may help: a lower optimizer.lr"));
  EXPECT_THAT(text, Not(HasSubstr("loss_scale")));
  TrainConfig config = default_config();
  config.set_loss_scale(1000);
  EXPECT_THAT(collapse_text(bad, config, {}, ""), HasSubstr("a smaller loss_scale"));
  EXPECT_THAT(collapse_text({.step = 1, .loss = NAN}, config, {}, ""), HasSubstr("not finite: none;"));
}

TEST(LossScaling, ACollapseTellsSkipsScaleAndWeights) {
  const BadStep bad{.step = 21, .loss = NAN, .parameter = "conv1.weight", .place = "on rank 0"};
  const parallel::LossScalerState after{.scale = 1, .skips_in_a_row = 17, .skipped_steps = 17};
  const std::string text = collapse_text(bad, dynamic_config(), after, "fc1.weight on rank 0");
  EXPECT_THAT(text, HasSubstr("the loss scale has collapsed: skips in a row: 17, scale 1, its floor 1"));
  EXPECT_THAT(text, HasSubstr("the weights themselves are not finite: fc1.weight on rank 0"));
  EXPECT_THAT(collapse_text(bad, dynamic_config(), after, ""), Not(HasSubstr("weights themselves")));
}

}  // namespace
}  // namespace lockstep::train

#include "train/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/error.h"
#include "train/config.h"
#include "train/config_set.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

const KnownNames kKnown{.models = {"cnn", "mlp"},
                        .data = {"synthetic", "idx"},
                        .optimizers = {"sgd", "adamw"},
                        .losses = {"cross_entropy"},
                        .metrics = {"accuracy"},
                        .schedules = {"constant", "cosine"}};

std::string mistakes_of(const std::vector<std::string>& assignments) {
  TrainConfig config = default_config();
  for (const std::string& assignment : assignments) apply_set(config, assignment);
  try {
    validate(config, kKnown);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigCheck, TheDefaultsAreRight) {
  EXPECT_EQ(mistakes_of({}), "");
}

TEST(ConfigCheck, ReportsAllMistakesAtOnce) {
  const std::string text = mistakes_of(
      {"global_batch=0", "optimizer.lr=-0.5", "model.name=cnm", "virtual_ranks=12", "comm.backend=NCCL"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_THAT(text, HasSubstr("[config] 5 mistakes:"));
  EXPECT_THAT(
      text,
      HasSubstr("\n  model.name = \"cnm\": expected a known name; did you mean \"cnn\"?; known: cnn, mlp"));
  EXPECT_THAT(text, HasSubstr("\n  global_batch = 0: expected 1 to 16777216"));
  EXPECT_THAT(text, HasSubstr("\n  virtual_ranks = 12: expected a power of two, 1 to 65536"));
  EXPECT_THAT(text, HasSubstr("\n  optimizer.lr = -0.5: expected a finite number, 0 or more"));
  EXPECT_THAT(text, HasSubstr("\n  comm.backend = NCCL: expected MPI"));
}

/// A bad value, and the beginning of the line that must answer it.
struct BadValue {
  std::vector<std::string> assignments;
  std::string field;
};

std::ostream& operator<<(std::ostream& out, const BadValue& value) {
  return out << value.assignments.front();
}

class ConfigCheckEachField : public ::testing::TestWithParam<BadValue> {};

TEST_P(ConfigCheckEachField, IsRefusedByName) {
  const std::string text = mistakes_of(GetParam().assignments);
  EXPECT_THAT(text, HasSubstr("[config] 1 mistake:\n  " + GetParam().field + " = "));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigCheckEachField,
    ::testing::Values(
        BadValue{{"model.hidden=16,0"}, "model.hidden"}, BadValue{{"model.dropout=1"}, "model.dropout"},
        BadValue{{"model.dropout=nan"}, "model.dropout"}, BadValue{{"data.name=imagenet"}, "data.name"},
        BadValue{{"data.train_limit=-1"}, "data.train_limit"},
        BadValue{{"data.test_limit=-1"}, "data.test_limit"}, BadValue{{"data.mean=0.5"}, "data.deviation"},
        BadValue{{"data.mean=nan", "data.deviation=1"}, "data.mean"},
        BadValue{{"data.mean=0", "data.deviation=0"}, "data.deviation"},
        BadValue{{"data.augment.crop_padding=-1"}, "data.augment.crop_padding"},
        BadValue{{"data.loader_threads=-1"}, "data.loader_threads"},
        BadValue{{"data.prefetch=0"}, "data.prefetch"},
        BadValue{{"data.synthetic.train_samples=0"}, "data.synthetic.train_samples"},
        BadValue{{"data.synthetic.test_samples=0"}, "data.synthetic.test_samples"},
        BadValue{{"data.classes=-1"}, "data.classes"}, BadValue{{"data.image.size=0"}, "data.image.size"},
        BadValue{{"data.image.channels=2"}, "data.image.channels"},
        BadValue{{"data.image.center_crop=0"}, "data.image.center_crop"},
        BadValue{{"data.image.center_crop=1.1"}, "data.image.center_crop"},
        BadValue{{"data.sequence_length=0"}, "data.sequence_length"},
        BadValue{{"data.augment.min_area=0"}, "data.augment.min_area"},
        BadValue{{"data.augment.max_area=0.05"}, "data.augment.max_area"},
        BadValue{{"data.augment.min_aspect=0"}, "data.augment.min_aspect"},
        BadValue{{"data.augment.max_aspect=0.5"}, "data.augment.max_aspect"},
        BadValue{{"data.augment.brightness=-1"}, "data.augment.brightness"},
        BadValue{{"data.augment.hue=0.6"}, "data.augment.hue"},
        BadValue{{"optimizer.beta1=1"}, "optimizer.beta1"},
        BadValue{{"optimizer.name=adamw", "optimizer.epsilon=0"}, "optimizer.epsilon"},
        BadValue{{"optimizer.trust_coefficient=0"}, "optimizer.trust_coefficient"},
        BadValue{{"model.patch=-1"}, "model.patch"}, BadValue{{"loss.name=hinge"}, "loss.name"},
        BadValue{{"evaluation.metrics=recall"}, "evaluation.metrics"},
        BadValue{{"evaluation.metrics=accuracy,accuracy"}, "evaluation.metrics"},
        BadValue{{"evaluation.patience=-1"}, "evaluation.patience"},
        BadValue{{"evaluation.min_improvement=-1"}, "evaluation.min_improvement"},
        BadValue{{"average_decay=1"}, "average_decay"}, BadValue{{"init_from.skip=fc.*"}, "init_from.path"},
        BadValue{{"init_from.lenient=true"}, "init_from.path"},
        BadValue{{"data.synthetic.channels=0"}, "data.synthetic.channels"},
        BadValue{{"data.synthetic.height=0"}, "data.synthetic.height"},
        BadValue{{"data.synthetic.width=0"}, "data.synthetic.width"},
        BadValue{{"micro_batch=0"}, "micro_batch"}, BadValue{{"micro_batch=129"}, "micro_batch"},
        BadValue{{"epochs=-1"}, "epochs"}, BadValue{{"max_steps=-1"}, "max_steps"},
        BadValue{{"epochs=0"}, "epochs"}, BadValue{{"threads=-1"}, "threads"},
        BadValue{{"virtual_ranks=0"}, "virtual_ranks"}, BadValue{{"virtual_ranks=-16"}, "virtual_ranks"},
        BadValue{{"precision=FP16"}, "precision"}, BadValue{{"optimizer.name=lars"}, "optimizer.name"},
        BadValue{{"optimizer.lr=inf"}, "optimizer.lr"},
        BadValue{{"optimizer.momentum=1"}, "optimizer.momentum"},
        BadValue{{"optimizer.momentum=0", "optimizer.nesterov=true"}, "optimizer.nesterov"},
        BadValue{{"optimizer.weight_decay=-1"}, "optimizer.weight_decay"},
        BadValue{{"optimizer.rules={lr_factor: 1}"}, "optimizer.rules.pattern"},
        BadValue{{"optimizer.rules={pattern: \"*\" weight_decay: -1}"}, "optimizer.rules.weight_decay"},
        BadValue{{"optimizer.rules={pattern: \"*\" lr_factor: -1}"}, "optimizer.rules.lr_factor"},
        BadValue{{"schedule.name=step"}, "schedule.name"},
        BadValue{{"schedule.warmup_epochs=-1"}, "schedule.warmup_epochs"},
        BadValue{{"schedule.warmup_start_factor=1.5"}, "schedule.warmup_start_factor"},
        BadValue{{"schedule.milestones=2,1"}, "schedule.milestones"},
        BadValue{{"schedule.gamma=0"}, "schedule.gamma"}, BadValue{{"schedule.power=0"}, "schedule.power"},
        BadValue{{"schedule.end_lr=-1"}, "schedule.end_lr"},
        BadValue{{"schedule.base_batch=0"}, "schedule.base_batch"},
        BadValue{{"loss.label_smoothing=1"}, "loss.label_smoothing"},
        BadValue{{"loss_scale=0"}, "loss_scale"},
        BadValue{{"loss_scaling.mode=DYNAMIC", "loss_scale=1000"}, "loss_scale"},
        BadValue{{"loss_scaling.mode=DYNAMIC", "loss_scale=33554432"}, "loss_scale"},
        BadValue{{"loss_scaling.mode=DYNAMIC", "loss_scale=nan"}, "loss_scale"},
        BadValue{{"loss_scaling.floor=0"}, "loss_scaling.floor"},
        BadValue{{"loss_scaling.floor=0.3"}, "loss_scaling.floor"},
        BadValue{{"loss_scaling.cap=inf"}, "loss_scaling.cap"},
        BadValue{{"loss_scaling.cap=1.7014118346046923e38"}, "loss_scaling.cap"},
        BadValue{{"loss_scaling.cap=0.5"}, "loss_scaling.cap"},
        BadValue{{"loss_scaling.growth_interval=0"}, "loss_scaling.growth_interval"},
        BadValue{{"loss_scaling.max_skips_in_a_row=0"}, "loss_scaling.max_skips_in_a_row"},
        BadValue{{"comm.backend=NCCL"}, "comm.backend"}, BadValue{{"comm.algorithm=star"}, "comm.algorithm"},
        BadValue{{"comm.algorithm=ring"}, "comm.algorithm"},
        BadValue{{"comm.algorithm=direct:0-8K"}, "comm.algorithm"},
        BadValue{{"comm.bucket_bytes=0"}, "comm.bucket_bytes"},
        BadValue{{"comm.timeout_seconds=0"}, "comm.timeout_seconds"},
        BadValue{{"comm.timeout_seconds=1e300"}, "comm.timeout_seconds"},
        BadValue{{"comm.start_timeout_seconds=-1"}, "comm.start_timeout_seconds"},
        BadValue{{"checkpoint.every_steps=-1"}, "checkpoint.every_steps"},
        BadValue{{"checkpoint.every_epochs=-1"}, "checkpoint.every_epochs"},
        BadValue{{"checkpoint.keep=0"}, "checkpoint.keep"},
        BadValue{{"checkpoint.timeout_seconds=0"}, "checkpoint.timeout_seconds"},
        BadValue{{"checkpoint.timeout_seconds=1e10"}, "checkpoint.timeout_seconds"},
        BadValue{{"metrics.every=0"}, "metrics.every"},
        BadValue{{"metrics.hash_every=-1"}, "metrics.hash_every"},
        BadValue{{"evaluation.every_epochs=-1"}, "evaluation.every_epochs"},
        BadValue{{"evaluation.batch=0"}, "evaluation.batch"}));

TEST(ConfigCheck, LimitsThemselvesAreAllowed) {
  EXPECT_EQ(mistakes_of({"micro_batch=128", "epochs=0", "max_steps=1", "virtual_ranks=1", "model.dropout=0",
                         "optimizer.lr=0", "schedule.warmup_start_factor=1", "checkpoint.keep=1",
                         "numerics=FAST", "comm.algorithm=direct:0-8K;ring:8K-", "comm.codec=FP16",
                         "data.mean=0.5,0.4", "data.deviation=0.2,0.3"}),
            "");
  EXPECT_EQ(mistakes_of({"loss_scaling.mode=DYNAMIC", "loss_scale=16777216"}), "");
  EXPECT_EQ(mistakes_of({"loss_scale=1000"}), "") << "a static scale may be any number";
}

TEST(ConfigCheck, RanksMustFitTheSlots) {
  TrainConfig config = default_config();
  config.set_virtual_ranks(4);
  EXPECT_NO_THROW(validate_for(config, 4));
  try {
    validate_for(config, 5);
    ADD_FAILURE() << "5 ranks on 4 slots were accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("virtual_ranks = 4: expected at least the number of ranks, which is 5"));
  }
}

}  // namespace
}  // namespace lockstep::train

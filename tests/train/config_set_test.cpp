#include "train/config_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainConfig with(const std::vector<std::string>& assignments) {
  TrainConfig config = default_config();
  for (const std::string& assignment : assignments) apply_set(config, assignment);
  return config;
}

std::string set_error(const std::string& assignment) {
  TrainConfig config = default_config();
  try {
    apply_set(config, assignment);
  } catch (const ConfigError& error) {
    EXPECT_TRUE(differences(config, default_config()).empty()) << "a refused assignment changed something";
    return error.what();
  }
  return "no ConfigError";
}

TEST(ConfigSet, SetsEveryKindOfField) {
  EXPECT_EQ(with({"optimizer.lr=1e-3"}).optimizer().lr(), 1e-3);
  EXPECT_EQ(with({"optimizer.lr=2"}).optimizer().lr(), 2);
  EXPECT_EQ(with({"global_batch=64"}).global_batch(), 64);
  EXPECT_EQ(with({"threads=-1"}).threads(), -1);
  EXPECT_EQ(with({"seed=18446744073709551615"}).seed(), 18446744073709551615U);
  EXPECT_EQ(with({"numerics=FAST"}).numerics(), TrainConfig::FAST);
  EXPECT_EQ(with({"comm.codec=BF16"}).comm().codec(), TrainConfig::Comm::BF16);
  EXPECT_TRUE(with({"data.augment.flip=true"}).data().augment().flip());
  EXPECT_EQ(with({"data.path=/a path/with=signs"}).data().path(), "/a path/with=signs");
  EXPECT_EQ(with({"data.path="}).data().path(), "");
  EXPECT_EQ(with({"epochs=2", "epochs=3"}).epochs(), 3);
}

TEST(ConfigSet, AListReplacesTheOldOne) {
  EXPECT_THAT(with({"model.hidden=1,2,3", "model.hidden=256,128"}).model().hidden(), ElementsAre(256, 128));
  EXPECT_THAT(with({"schedule.milestones=0.5, 1.5"}).schedule().milestones(), ElementsAre(0.5, 1.5));
  EXPECT_TRUE(with({"model.hidden=1", "model.hidden="}).model().hidden().empty());

  const TrainConfig config =
      with({"optimizer.rules={pattern: \"a,b\" lr_factor: 2},{pattern: \"*.bias\", weight_decay: 0}"});
  ASSERT_EQ(config.optimizer().rules_size(), 2);
  EXPECT_EQ(config.optimizer().rules(0).pattern(), "a,b");
  EXPECT_TRUE(config.optimizer().rules(1).has_weight_decay());
}

TEST(ConfigSet, AnUnknownFieldIsAnsweredWithTheNearestAndAll) {
  const std::string text = set_error("optimizer.lrr=0.1");
  EXPECT_THAT(text, HasSubstr("optimizer.lrr: there is no field \"lrr\"; did you mean optimizer.lr?"));
  EXPECT_THAT(text,
              HasSubstr("the fields of optimizer are name, lr, momentum, nesterov, weight_decay, rules"));
  EXPECT_THAT(set_error("optimiser.lr=0.1"),
              HasSubstr("did you mean optimizer?; the fields at the top are model"));
  EXPECT_THAT(set_error("zzz=1"), HasSubstr("there is no field \"zzz\"; the fields at the top are"));
}

TEST(ConfigSet, AFieldOfAnotherGroupIsFound) {
  EXPECT_THAT(set_error("lr=0.1"), HasSubstr("did you mean optimizer.lr?"));
  EXPECT_THAT(set_error("name=x"),
              HasSubstr("did you mean model.name, data.name, optimizer.name, schedule.name, loss.name?"));
}

TEST(ConfigSet, AValueThatDoesNotFitIsAnsweredWithWhatDoes) {
  EXPECT_THAT(set_error("optimizer.lr=fast"), HasSubstr("optimizer.lr = \"fast\": expected a number"));
  EXPECT_THAT(set_error("optimizer.lr="), HasSubstr("expected a number"));
  EXPECT_THAT(set_error("optimizer.lr=0.1 momentum: 3"), HasSubstr("expected a number"));
  EXPECT_THAT(set_error("global_batch=1.5"), HasSubstr("expected an integer"));
  EXPECT_THAT(set_error("threads=3000000000"), HasSubstr("expected an integer"));
  EXPECT_THAT(set_error("seed=-1"), HasSubstr("expected an integer that is not negative"));
  EXPECT_THAT(set_error("numerics=QUICK"), HasSubstr("expected one of REPRODUCIBLE, FAST"));
  EXPECT_THAT(set_error("drop_last=maybe"), HasSubstr("expected true or false"));
  EXPECT_THAT(set_error("model.hidden=1,x"), HasSubstr("model.hidden = \"x\": expected an integer"));
  EXPECT_THAT(set_error("optimizer.rules=*.bias"), HasSubstr("with pattern, weight_decay, lr_factor"));
}

TEST(ConfigSet, TheWrongShapeOfAPathIsExplained) {
  EXPECT_THAT(set_error("optimizer=sgd"), HasSubstr("optimizer is a group of fields: set one of them"));
  EXPECT_THAT(set_error("seed.x=1"), HasSubstr("seed has no fields"));
  EXPECT_THAT(set_error("optimizer.rules.pattern=x"), HasSubstr("optimizer.rules is a list"));
  EXPECT_THAT(set_error("seed"), HasSubstr("expected field=value, got \"seed\""));
  EXPECT_THAT(set_error("=1"), HasSubstr("expected field=value"));
  EXPECT_THAT(set_error("optimizer.=1"), HasSubstr("there is no field \"\""));
}

TEST(ConfigSet, AListOfTextsNeedsNoQuotes) {
  TrainConfig config = default_config();
  apply_set(config, "frozen=conv*,bn?.weight");
  ASSERT_EQ(config.frozen_size(), 2);
  EXPECT_EQ(config.frozen(0), "conv*");
  EXPECT_EQ(config.frozen(1), "bn?.weight");
  apply_set(config, "frozen=");
  EXPECT_EQ(config.frozen_size(), 0);
}

}  // namespace
}  // namespace lockstep::train

#include "train/config.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

template <class Call>
std::string config_error(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

bool same(const TrainConfig& a, const TrainConfig& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

TEST(Config, DefaultsAreSetExplicitly) {
  const TrainConfig config = default_config();
  EXPECT_TRUE(config.has_global_batch());
  EXPECT_TRUE(config.data().augment().has_flip());
  EXPECT_EQ(config.optimizer().lr(), 0.1);
  EXPECT_EQ(config.virtual_ranks(), 16);
  EXPECT_EQ(config.numerics(), TrainConfig::REPRODUCIBLE);
  EXPECT_EQ(config.comm().algorithm(), "auto");
}

TEST(Config, TextShowsEveryFieldAndReadsBack) {
  const std::string text = config_text(default_config());
  for (const char* line :
       {"global_batch: 128", "max_steps: 0", "numerics: REPRODUCIBLE", "  zero_gamma: false", "  codec: NONE",
        "  weight_decay: 0.0001", "    flip: false"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_TRUE(same(parse_config(text, "text"), default_config()));
}

TEST(Config, TextKeepsEveryBitOfANumber) {
  TrainConfig config = default_config();
  config.mutable_optimizer()->set_lr(0.1 + 0.2);
  config.set_seed(18446744073709551615U);
  EXPECT_TRUE(same(parse_config(config_text(config), "text"), config));
}

TEST(Config, AnUnsetRuleFieldStaysUnset) {
  const TrainConfig config = parse_config("optimizer { rules { pattern: \"*.bias\" lr_factor: 2 } }", "text");
  EXPECT_FALSE(config.optimizer().rules(0).has_weight_decay());
  EXPECT_EQ(config.optimizer().rules(0).lr_factor(), 2);
}

TEST(Config, DropoutIsTheModelsOwnUnlessItIsSet) {
  EXPECT_FALSE(default_config().model().has_dropout());
  EXPECT_TRUE(parse_config("model { dropout: 0 }", "text").model().has_dropout());
}

TEST(Config, FillDefaultsKeepsWhatIsSet) {
  TrainConfig config;
  config.mutable_optimizer()->set_lr(0);
  fill_defaults(config);
  EXPECT_EQ(config.optimizer().lr(), 0);
  EXPECT_EQ(config.optimizer().momentum(), 0.9);
}

TEST(Config, LoadsARecipeByNameAndAFileByPath) {
  const TemporaryFolder folder;
  write_text(folder.path("tiny.textproto"), "# a comment\nmodel { name: \"mlp\" hidden: [64, 32] }\n");
  write_text(folder.path("other.textproto"), "seed: 7");
  write_text(folder.path("notes.txt"), "not a recipe");

  EXPECT_THAT(recipe_names(folder.path()), ElementsAre("other", "tiny"));
  const TrainConfig by_name = load_config("tiny", folder.path());
  EXPECT_THAT(by_name.model().hidden(), ElementsAre(64, 32));
  EXPECT_EQ(by_name.global_batch(), 128);
  EXPECT_TRUE(same(load_config(folder.path("tiny.textproto"), "nowhere"), by_name));
}

TEST(Config, AnUnknownRecipeIsAnsweredWithTheKnownOnes) {
  const TemporaryFolder folder;
  write_text(folder.path("fashion_mnist.textproto"), "");
  write_text(folder.path("tiny.textproto"), "");
  const std::string text = config_error([&] { load_config("fashion_mnits", folder.path()); });
  EXPECT_THAT(text, HasSubstr("no recipe \"fashion_mnits\""));
  EXPECT_THAT(text, HasSubstr("did you mean \"fashion_mnist\"?; known: fashion_mnist, tiny"));
  EXPECT_TRUE(recipe_names(folder.path("absent")).empty());
}

TEST(Config, AnUnreadableFileIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.path("absent.textproto");
  EXPECT_THAT(config_error([&] { load_config(path, "recipes"); }), HasSubstr("cannot read \"" + path + "\""));
  EXPECT_THAT(config_error([&] { load_config(folder.path() + "/", "recipes"); }), HasSubstr("cannot read"));
}

TEST(Config, AMistakeInTheTextHasFileLineAndColumn) {
  EXPECT_THAT(
      config_error([] { parse_config("seed: 1\noptimizer { lrr: 0.1 }", "a.textproto"); }),
      HasSubstr(
          "a.textproto:2:16: Message type \"lockstep.TrainConfig.Optimizer\" has no field named \"lrr\""));
  EXPECT_THAT(config_error([] { parse_config("\n\nnumerics: QUICK", "b.textproto"); }),
              HasSubstr("b.textproto:3:"));
  EXPECT_THAT(config_error([] { parse_config("seed: \"x\"", "c.textproto"); }), HasSubstr("c.textproto:1:"));
  EXPECT_THAT(config_error([] { parse_config("model {", "d.textproto"); }), HasSubstr("d.textproto:1:"));
}

TEST(Config, DifferencesNameFieldAndBothValues) {
  const TrainConfig config = default_config();
  TrainConfig other = config;
  other.mutable_optimizer()->set_lr(0.2);
  other.set_numerics(TrainConfig::FAST);
  other.mutable_model()->add_hidden(8);
  EXPECT_THAT(differences(config, other),
              ElementsAre("added: model.hidden[0]: 8", "modified: numerics: REPRODUCIBLE -> FAST",
                          "modified: optimizer.lr: 0.1 -> 0.2"));
  EXPECT_TRUE(differences(config, config).empty());
}

}  // namespace
}  // namespace lockstep::train

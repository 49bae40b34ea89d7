#include "launcher/train_options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::launcher {
namespace {

ParsedCommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "train");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ParsedCommandLine parsed = parse_train_options(static_cast<int>(words.size()), words.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return parsed;
}

TEST(TrainOptions, EverythingCanBeGiven) {
  const auto parsed = parse({"mine.textproto", "--set", "a=1", "--set", "b=2", "--output", "runs/x",
                             "--resume", "latest", "--stop_at_step", "7", "--profile", "trace.json",
                             "--profile_steps", "5", "--profile_skip", "0"});
  EXPECT_FALSE(parsed.exit_status);
  EXPECT_EQ(parsed.options.recipe, "mine.textproto");
  EXPECT_EQ(parsed.options.sets, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(parsed.options.output, "runs/x");
  EXPECT_EQ(parsed.options.resume, "latest");
  EXPECT_EQ(parsed.options.stop_at_step, 7);
  EXPECT_EQ(parsed.options.profile.file, "trace.json");
  EXPECT_EQ(parsed.options.profile.steps, 5);
  EXPECT_EQ(parsed.options.profile.skip, 0);
}

TEST(TrainOptions, ARecipeMayFollowASetting) {
  const auto parsed = parse({"--set", "a=1", "fashion_mnist"});
  EXPECT_EQ(parsed.options.recipe, "fashion_mnist");
  EXPECT_EQ(parsed.options.sets, std::vector<std::string>{"a=1"});
}

TEST(TrainOptions, NothingIsTheDefaultRecipe) {
  const auto parsed = parse({});
  EXPECT_FALSE(parsed.exit_status);
  EXPECT_EQ(resolve_config(parsed.options, find_recipes_folder()).data().name(), "fashion_mnist");
}

TEST(TrainOptions, MistakesHaveStatus64AndHelpHas0) {
  EXPECT_EQ(parse({"--no_such_option"}).exit_status, 64);
  EXPECT_EQ(parse({"--stop_at_step", "-1"}).exit_status, 64);
  EXPECT_EQ(parse({"--profile_steps", "0"}).exit_status, 64);
  EXPECT_EQ(parse({"--resume", "latest"}).exit_status, 64) << "of which run?";
  EXPECT_EQ(parse({"--help"}).exit_status, 0);
  EXPECT_EQ(parse({"--version"}).exit_status, 0);
}

TEST(ResolveConfig, ARunGoesOnAsItWasConfigured) {
  TrainOptions options;
  options.output = testing::TempDir() + "resolve_config_test";
  options.resume = "latest";
  std::filesystem::create_directory(options.output);
  const std::string file = options.output + "/config.textproto";
  std::filesystem::remove(file);
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).global_batch(), 256) << "a new run: fashion_mnist";
  std::ofstream(file) << "global_batch: 77 fault { kind: KILL }";
  options.sets = {"epochs=3"};
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).global_batch(), 77);
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).epochs(), 3);
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).fault().kind(), TrainConfig::Fault::NONE);
  options.recipe = "fashion_mnist";
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).global_batch(), 256)
      << "a recipe that is given wins";
  std::filesystem::remove_all(options.output);
}

TEST(ResolveConfig, AppliesSettingsInOrderAndChecks) {
  TrainOptions options;
  options.sets = {"optimizer.lr=0.5", "optimizer.lr=0.25"};
  EXPECT_EQ(resolve_config(options, find_recipes_folder()).optimizer().lr(), 0.25);
  options.sets = {"comm.algorithm=ring"};
  test::expect_error<ConfigError>([&] { resolve_config(options, find_recipes_folder()); },
                                  "halving_doubling");
  options.sets = {"comm.algorithm=ring", "numerics=FAST"};
  EXPECT_NO_THROW(resolve_config(options, find_recipes_folder()));
  options.sets = {"optimizer.lr=-1"};
  test::expect_error<ConfigError>([&] { resolve_config(options, find_recipes_folder()); }, "optimizer.lr");
}

TEST(ListNames, NamesWhatThereIs) {
  const std::string names = list_names(find_recipes_folder());
  for (const char* name :
       {"fashion_mnist", "cnn", "mlp", "linear", "idx", "synthetic", "sgd", "cosine", "ring"}) {
    EXPECT_NE(names.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace lockstep::launcher

#include "launcher/lockstep_program.h"

#include <gtest/gtest.h>

#include "tests/launcher/output_of.h"
#include "tests/launcher/small_run.h"

namespace lockstep::launcher {
namespace {

Printed lockstep(std::vector<std::string> words) {
  words.insert(words.begin(), "lockstep");
  Arguments arguments(std::move(words));
  return output_of([&] { return run_lockstep(arguments.count(), arguments.values()); });
}

TEST(LockstepProgram, NeedsACommandItKnows) {
  EXPECT_EQ(lockstep({}).status, 64);
  EXPECT_EQ(lockstep({"trian"}).status, 64);
  EXPECT_EQ(lockstep({"eval"}).status, 64) << "of which run?";
  const Printed help = lockstep({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"compare", "eval", "predict", "verify-data", "bench"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  }
}

TEST(LockstepProgram, BenchIsAGroup) {
  EXPECT_EQ(lockstep({"bench"}).status, 64) << "of what?";
  const Printed help = lockstep({"bench", "scaling", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"Examples", "--ranks", "--mode", "--markdown"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(lockstep({"bench", "scaling", "--mode", "STRANGE"}).status, 64);
  EXPECT_EQ(lockstep({"bench", "scaling", "--ranks", "1,0"}).status, 64);
  const Printed refused =
      lockstep({"bench", "scaling", "no_such_recipe", "--ranks", "1,2", "--mode", "WEAK"});
  EXPECT_EQ(refused.status, 64);
  EXPECT_NE(refused.err.find("no_such_recipe"), std::string::npos) << refused.err;
}

TEST(LockstepProgram, ComparesEvaluatesAndVerifies) {
  const std::string& run = small_run();
  EXPECT_EQ(lockstep({"compare", run, run}).status, 0);
  const Printed evaluated = lockstep({"eval", run, "--set", "data.test_limit=5"});
  EXPECT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find("\"eval_count\":5"), std::string::npos) << evaluated.out;
  EXPECT_EQ(lockstep({"verify-data", run + "/config.textproto"}).status, 0);
}

TEST(LockstepProgram, AnErrorHasItsStatusAndItsText) {
  const Printed printed = lockstep({"eval", "/nowhere"});
  EXPECT_EQ(printed.status, 64);
  EXPECT_NE(printed.err.find("/nowhere"), std::string::npos) << printed.err;
}

}  // namespace
}  // namespace lockstep::launcher

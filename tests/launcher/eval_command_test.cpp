#include "launcher/eval_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "tests/launcher/output_of.h"
#include "tests/launcher/small_run.h"
#include "tests/support/expect_error.h"
#include "train/metrics_file.h"

namespace lockstep::launcher {
namespace {

TEST(EvalCommand, GivesTheFiguresThatTrainingWrote) {
  const std::string& run = small_run();
  const Printed printed = output_of([&] { return eval_command({.run = run}); });
  EXPECT_EQ(printed.status, 0) << printed.err;
  const auto line = nlohmann::json::parse(printed.out);
  const auto last = train::read_metrics(small_run() + "/metrics.jsonl").back().fields;
  for (const char* field : {"eval_loss", "eval_accuracy", "eval_count"})
    EXPECT_EQ(line[field], last[field]) << field;
}

TEST(EvalCommand, OtherDataMayBeNamed) {
  const std::string& run = small_run();
  const Printed printed =
      output_of([&] { return eval_command({.run = run, .sets = {"data.test_limit=7"}}); });
  EXPECT_EQ(nlohmann::json::parse(printed.out)["eval_count"], 7);
}

TEST(EvalCommand, WhatIsNoRunIsNamed) {
  test::expect_error<Error>([] { eval_command({.run = "/nowhere"}); }, "/nowhere/config.textproto");
}

}  // namespace
}  // namespace lockstep::launcher

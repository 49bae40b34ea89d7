#include "train/metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/error.h"
#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;

std::string read_error(const std::string& content) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("m.jsonl")) << content;
  try {
    read_metrics(folder.path("m.jsonl"));
  } catch (const DataError& error) {
    return error.what();
  }
  return "no DataError";
}

TEST(ReadMetrics, GivesStepFieldsAndEndOfEveryLine) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("m.jsonl")) << "{\"step\":1}\n{\"step\":2,\"loss\":0.5}\n";
  const std::vector<MetricsLine> lines = read_metrics(folder.path("m.jsonl"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].end, 11U);
  EXPECT_EQ(lines[1].step, 2);
  EXPECT_EQ(lines[1].fields["loss"], 0.5);
  EXPECT_EQ(lines[1].end, 33U);
}

TEST(ReadMetrics, LeavesOutALineWithoutItsEnd) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("m.jsonl")) << "{\"step\":1}\n{\"step\":2";
  EXPECT_EQ(read_metrics(folder.path("m.jsonl")).size(), 1U);
  std::ofstream(folder.path("empty.jsonl")) << "";
  EXPECT_TRUE(read_metrics(folder.path("empty.jsonl")).empty());
}

TEST(ReadMetrics, NamesTheLineThatIsWrong) {
  EXPECT_THAT(read_error("{\"step\":1}\nnonsense\n{\"step\":2}\n"), HasSubstr("m.jsonl\", line 2: "));
  EXPECT_THAT(read_error("{\"loss\":1}\n"), HasSubstr("line 1: "));
  EXPECT_THAT(read_error("{\"step\":\"one\"}\n"), HasSubstr("line 1: "));
  EXPECT_THAT(read_error("{\"step\":1e300}\n"), HasSubstr("line 1: step is 1e+300: expected an integer"));
  EXPECT_THAT(read_error("{\"step\":true}\n"), HasSubstr("line 1: step is true: expected an integer"));
  EXPECT_THAT(read_error("[1]\n"), HasSubstr("line 1: "));
  EXPECT_THAT(read_error("\n"), HasSubstr("line 1: "));
}

TEST(ReadMetrics, NamesAFileThatIsNotThere) {
  try {
    read_metrics("/nowhere/metrics.jsonl");
    ADD_FAILURE() << "read a file that does not exist";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read \"/nowhere/metrics.jsonl\""));
  }
}

}  // namespace
}  // namespace lockstep::train

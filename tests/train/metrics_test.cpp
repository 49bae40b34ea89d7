#include "train/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

StepRecord step_record(int64_t step) {
  return {.step = step,
          .epoch = 0,
          .samples = 128 * step,
          .loss = 2.5,
          .lr = 0.1,
          .samples_per_second = 1000,
          .wall_time = 0.25,
          .weights = {},
          .other = {}};
}

TEST(Metrics, AStepIsALine) {
  const TemporaryFolder folder;
  MetricsWriter(folder.path("m")).write(step_record(3));
  EXPECT_EQ(content_of(folder.path("m")),
            "{\"step\":3,\"epoch\":0,\"samples\":384,\"loss\":2.5,\"lr\":0.1,\"samples_per_second\":1000.0,"
            "\"wall_time\":0.25}\n");
}

TEST(Metrics, AFileThatWasRemovedIsBegunAgain) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("run"));
  MetricsWriter writer(folder.path("run/m"));
  writer.write(step_record(1));
  std::filesystem::remove(folder.path("run/m"));
  writer.write(step_record(2));
  writer.write(step_record(3));
  const std::string content = content_of(folder.path("run/m"));
  EXPECT_THAT(content, ::testing::StartsWith("{\"step\":2,"));
  EXPECT_EQ(std::count(content.begin(), content.end(), '\n'), 2);
  std::filesystem::remove_all(folder.path("run"));
  EXPECT_THROW(writer.write(step_record(4)), FileError);
}

TEST(Metrics, HashesAndFurtherFiguresFollow) {
  const TemporaryFolder folder;
  StepRecord record = step_record(1);
  record.weights = WeightsHash{0xabc, {{"z.weight", 1}, {"a.bias", 0xffffffffffffffffU}}};
  record.other = {{"gradient_norm", 0.5}};
  MetricsWriter(folder.path("m")).write(record);
  EXPECT_THAT(content_of(folder.path("m")),
              ::testing::HasSubstr(
                  "\"wall_time\":0.25,\"weights_hash\":\"0000000000000abc\",\"tensor_hashes\":{\"z.weight\":"
                  "\"0000000000000001\",\"a.bias\":\"ffffffffffffffff\"},\"gradient_norm\":0.5}\n"));
}

TEST(Metrics, AnEvaluationIsALine) {
  const TemporaryFolder folder;
  MetricsWriter(folder.path("m"))
      .write(EvaluationRecord{
          .step = 469, .epoch = 1, .loss = 0.5, .metrics = {{"accuracy", 0.875}}, .count = 10000});
  EXPECT_EQ(content_of(folder.path("m")),
            "{\"step\":469,\"epoch\":1,\"eval_loss\":0.5,\"eval_accuracy\":0.875,\"eval_count\":10000}\n");
}

TEST(Metrics, NumbersGiveBackTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<double> losses{
      0.1 + 0.2, 1.0 / 3, 5e-324, -0.0, std::numeric_limits<double>::max(), static_cast<double>(0.1F)};
  for (size_t i = 0; i < losses.size(); ++i) {
    const double loss = losses[i];
    const std::string path = folder.path(std::to_string(i));
    StepRecord record = step_record(1);
    record.loss = loss;
    MetricsWriter(path).write(record);
    const double read = nlohmann::json::parse(content_of(path))["loss"].get<double>();
    EXPECT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(loss)) << loss;
  }
}

TEST(Metrics, WhatIsNotFiniteIsText) {
  const TemporaryFolder folder;
  StepRecord record = step_record(1);
  record.loss = std::nan("");
  record.lr = HUGE_VAL;
  record.wall_time = -HUGE_VAL;
  MetricsWriter(folder.path("m")).write(record);
  const auto line = nlohmann::json::parse(content_of(folder.path("m")));
  EXPECT_EQ(line["loss"], "NaN");
  EXPECT_EQ(line["lr"], "Infinity");
  EXPECT_EQ(line["wall_time"], "-Infinity");
}

/// Two epochs of two steps, evaluated after each.
void write_run(const std::string& path, int64_t first_step) {
  MetricsWriter writer(path);
  for (int64_t step = first_step; step <= 4; ++step) {
    writer.write(step_record(step));
    if (step % 2 == 0) writer.write(EvaluationRecord{.step = step, .epoch = step / 2, .count = 10});
  }
}

TEST(Metrics, AResumedFileEqualsTheUnbrokenOne) {
  const TemporaryFolder folder;
  write_run(folder.path("unbroken"), 1);
  for (int64_t resumed = 0; resumed <= 4; ++resumed) {
    const std::string path = folder.path("resumed-" + std::to_string(resumed));
    write_run(path, 1);
    std::ofstream(path, std::ios::app) << "{\"step\":5,\"lo";  // killed while it wrote
    truncate_metrics(path, resumed);
    write_run(path, resumed + 1);
    EXPECT_EQ(content_of(path), content_of(folder.path("unbroken"))) << "resumed after step " << resumed;
  }
}

TEST(Metrics, TruncatingKeepsWhatIsBefore) {
  const TemporaryFolder folder;
  write_run(folder.path("m"), 1);
  const std::string whole = content_of(folder.path("m"));
  truncate_metrics(folder.path("m"), 4);
  EXPECT_EQ(content_of(folder.path("m")), whole);
  truncate_metrics(folder.path("m"), 2);
  const std::string kept = content_of(folder.path("m"));
  EXPECT_TRUE(whole.starts_with(kept));
  EXPECT_THAT(kept, ::testing::EndsWith("\"eval_count\":10}\n"));
  truncate_metrics(folder.path("m"), 0);
  EXPECT_EQ(content_of(folder.path("m")), "");
}

TEST(Metrics, TruncatingAFileThatIsNotThereDoesNothing) {
  const TemporaryFolder folder;
  truncate_metrics(folder.path("m"), 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path("m")));
}

TEST(Metrics, AFullDiskIsAnError) {
  MetricsWriter writer("/dev/full");
  EXPECT_THROW(writer.write(step_record(1)), FileError);
}

}  // namespace
}  // namespace lockstep::train

#include "train/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "runtime/error.h"
#include "tests/train/temporary_folder.h"
#include "train/metrics.h"
#include "train/run_directory.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct RunOptions {
  int64_t steps = 40;
  int64_t hash_every = 10;  ///< 0: never
  /// Changes a record before it is written.
  std::function<void(StepRecord&)> change = [](StepRecord&) {};
};

/// Writes the metrics of a made-up run and returns its directory.
std::string write_run(const TemporaryFolder& folder, const std::string& name, const RunOptions& options) {
  const RunDirectory run = make_run_directory(folder.path(name));
  MetricsWriter writer(run.metrics());
  for (int64_t step = 1; step <= options.steps; ++step) {
    StepRecord record{.step = step,
                      .samples = 32 * step,
                      .loss = 1.0 / static_cast<double>(step),
                      .weights = {},
                      .other = {}};
    record.wall_time = static_cast<double>(step) * static_cast<double>(name.size());
    if (options.hash_every > 0 && step % options.hash_every == 0) {
      const auto hash = static_cast<uint64_t>(step);
      record.weights =
          WeightsHash{hash, {{"conv1.weight", hash + 1}, {"fc.bias", hash + 2}, {"fc.weight", hash + 3}}};
    }
    options.change(record);
    writer.write(record);
    if (step % 20 == 0)
      writer.write(EvaluationRecord{.step = step, .loss = 0.5, .metrics = {{"accuracy", 0.25}}, .count = 10});
  }
  return run.root;
}

RunComparison compare_with(const RunOptions& a, const RunOptions& b) {
  const TemporaryFolder folder;
  return compare_runs(write_run(folder, "first", a), write_run(folder, "second_run", b));
}

TEST(Compare, RunsThatDifferInTimeOnlyAreEqual) {
  const RunComparison result = compare_with({}, {});
  EXPECT_TRUE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("equal, bit by bit, at all 40 steps"));
  EXPECT_THAT(result.text, HasSubstr("first: 40 steps, 1 to 40"));
  EXPECT_THAT(result.text, Not(HasSubstr("not compared")));
}

TEST(Compare, LooksAtWhateverMetricsThereAreAndNotAtTimes) {
  const auto measured = [](double metric, double time) {
    return RunOptions{.change = [=](StepRecord& record) {
      record.other = {{"close_enough", record.step < 7 ? 0.5 : metric},
                      {"forward_seconds", time},
                      {"other_seconds", time},
                      {"memory_bytes", time}};
    }};
  };
  EXPECT_TRUE(compare_with(measured(0.25, 1), measured(0.25, 2)).equal);
  const RunComparison result = compare_with(measured(0.25, 1), measured(0.75, 1));
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("step 7: close_enough 0.25 / 0.75; differs at 34 of 40 steps"));
}

TEST(Compare, NamesTheFirstStepAndTensor) {
  const RunComparison result = compare_with({}, {.change = [](StepRecord& record) {
                                              if (record.step < 25 || !record.weights) return;
                                              record.weights->total += 100;
                                              record.weights->tensors[1].second += 100;
                                              record.weights->tensors[2].second += 100;
                                            }});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("the runs differ from step 30 on (A / B):"));
  EXPECT_THAT(result.text,
              HasSubstr("step 30: weights_hash \"000000000000001e\" / \"0000000000000082\"; differs at 2 "
                        "of 4 steps, equal up to step 20"));
  EXPECT_THAT(result.text, HasSubstr("first tensor that differs: fc.bias (2 of 3 differ)"));
}

TEST(Compare, ShowsLossesThatDifferByTheLastBit) {
  const RunComparison result = compare_with({}, {.change = [](StepRecord& record) {
                                              if (record.step == 2)
                                                record.loss = std::nextafter(record.loss, 1);
                                            }});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(
      result.text,
      HasSubstr("step 2: loss 0.5 / 0.5000000000000001; differs at 1 of 40 steps, equal up to step 1"));
}

TEST(Compare, ListsFieldsInTheOrderInWhichTheyDepart) {
  const RunComparison result = compare_with({}, {.change = [](StepRecord& record) {
                                              if (record.step >= 12) record.loss = -1;
                                              if (record.step >= 11) record.lr = -1;
                                              if (record.weights && record.step >= 20)
                                                record.weights->total = 0;
                                            }});
  const size_t lr = result.text.find("step 11: lr");
  const size_t loss = result.text.find("step 12: loss");
  const size_t hash = result.text.find("step 20: weights_hash");
  ASSERT_NE(hash, std::string::npos) << result.text;
  EXPECT_LT(lr, loss);
  EXPECT_LT(loss, hash);
  EXPECT_THAT(result.text, HasSubstr("the tensors agree in content, but not in number or order"));
}

TEST(Compare, NegativeZeroIsNotZero) {
  const RunComparison result = compare_with({.change = [](StepRecord& record) { record.lr = 0.0; }},
                                            {.change = [](StepRecord& record) { record.lr = -0.0; }});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("step 1: lr 0.0 / -0.0"));
}

TEST(Compare, ARunThatIsNotANumberEqualsItself) {
  const RunOptions options{.change = [](StepRecord& record) { record.loss = std::nan(""); }};
  EXPECT_TRUE(compare_with(options, options).equal);
}

TEST(Compare, AShorterRunIsNotEqualButAgrees) {
  const RunComparison result = compare_with({.steps = 40}, {.steps = 30});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("no value differs at the 30 steps that both have"));
  EXPECT_THAT(result.text, HasSubstr("second_run: 30 steps, 1 to 30"));
}

TEST(Compare, SaysWhenWeightsWereNotCompared) {
  const RunComparison result = compare_with({}, {.hash_every = 0});
  EXPECT_TRUE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("weights were not compared"));
}

TEST(Compare, NothingInCommonIsNotEqual) {
  const RunComparison result = compare_with({}, {.steps = 0});
  EXPECT_FALSE(result.equal);
  EXPECT_THAT(result.text, HasSubstr("no step is in both"));
}

TEST(Compare, AMissingRunIsNamed) {
  const TemporaryFolder folder;
  const std::string run = write_run(folder, "run", {});
  try {
    compare_runs(run, folder.path("absent"));
    ADD_FAILURE() << "compared with a run that does not exist";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read \"" + folder.path("absent/metrics.jsonl") + "\""));
  }
}

}  // namespace
}  // namespace lockstep::train

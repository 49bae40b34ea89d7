#include "train/profiler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/train/trainer_fixture.h"

namespace lockstep::train {
namespace {

using nlohmann::json;

class ProfilerTest : public TrainerTest {
 protected:
  TrainerOptions profiled(int64_t skip, int64_t steps) const {
    TrainerOptions options;
    options.profile = {.file = path("trace.json"), .skip = skip, .steps = steps};
    return options;
  }
  json trace() const {
    std::ifstream file(path("trace.json"));
    return json::parse(file);
  }
  /// Names of the spans of one category, of one rank.
  static std::multiset<std::string> names(const json& trace, const std::string& category, int rank) {
    std::multiset<std::string> found;
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event["pid"] == rank && event["cat"] == category) found.insert(event["name"]);
    }
    return found;
  }
  static std::set<std::string> lanes(const json& trace, int rank) {
    std::set<std::string> found;
    for (const json& event : trace["traceEvents"]) {
      if (event["name"] == "thread_name" && event["pid"] == rank) found.insert(event["args"]["name"]);
    }
    return found;
  }
};

TEST_F(ProfilerTest, NoBitDependsOnIt) {
  train(2, "plain");
  train(2, "profiled", small_run(), profiled(1, 2));
  EXPECT_EQ(weights("profiled"), weights("plain"));
  EXPECT_EQ(losses("profiled"), losses("plain"));
}

TEST_F(ProfilerTest, ShowsEveryRankWithItsLanesAndTheStepsAskedFor) {
  TrainConfig config = small_run();
  config.mutable_data()->set_loader_threads(1);  // of several, one may have had nothing to do in these steps
  train(2, "run", config, profiled(2, 3));
  const json profile = trace();
  for (const int rank : {0, 1}) {
    EXPECT_EQ(names(profile, "step", rank), (std::multiset<std::string>{"step 3", "step 4", "step 5"}));
    const std::set<std::string> found = lanes(profile, rank);
    for (const char* lane : {"compute", "communication", "loader 0"})
      EXPECT_TRUE(found.contains(lane)) << lane;
    EXPECT_EQ(names(profile, "phase", rank).count("optimizer"), 3U);
    EXPECT_GT(names(profile, "backward", rank).count("conv2d"), 0U);
    EXPECT_GT(names(profile, "forward", rank).count("batch_norm"), 0U);
    EXPECT_GT(names(profile, "layer", rank).size(), 0U);
    EXPECT_GT(names(profile, "data", rank).count("samples"), 0U);
    EXPECT_EQ(names(profile, "other", rank).count("hash of the weights"), 3U);
  }
  EXPECT_GT(names(profile, "other", 0).count("checkpoint"), 0U);
}

TEST_F(ProfilerTest, SpansOfALaneNest) {
  train(2, "run", small_run(), profiled(0, 4));
  const json profile = trace();
  std::map<std::pair<int, int>, std::vector<double>> open;  // ends of the spans around, per rank and thread
  int spans = 0;
  for (const json& event : profile["traceEvents"]) {  // by start
    if (event["ph"] != "X") continue;
    ++spans;
    const double start = event["ts"];
    const double end = start + event["dur"].get<double>();
    constexpr double kRounding = 1e-3;  // a nanosecond
    std::vector<double>& ends = open[{event["pid"], event["tid"]}];
    while (!ends.empty() && ends.back() <= start + kRounding) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + kRounding) << event;
    }
    ends.push_back(end);
  }
  EXPECT_GT(spans, 100);
}

TEST_F(ProfilerTest, FiguresHaveWhatABoundTakes) {
  train(1, "run", small_run(), profiled(1, 3));
  const json figures = trace()["lockstep"];
  EXPECT_EQ(figures["steps"], 3);
  EXPECT_EQ(figures["ranks"], 1);
  EXPECT_EQ(figures["threads"], 1);
  for (const char* name :
       {"peak_flops", "memory_bandwidth", "flops_per_step", "bytes_per_step", "step_seconds"})
    EXPECT_GT(figures[name].get<double>(), 0) << name;
  double sum = 0;
  for (const char* name : {"data", "forward", "backward", "communication", "optimizer", "other"})
    sum += figures["phases"][name].get<double>();
  EXPECT_GT(sum, 0);
}

TEST_F(ProfilerTest, AShortRunGivesWhatItHas) {
  TrainConfig config = small_run();
  config.set_max_steps(3);
  train(2, "run", config, profiled(1, 100));
  EXPECT_EQ(trace()["lockstep"]["steps"], 2);
  train(2, "other", config, profiled(100, 1));
  EXPECT_EQ(trace()["lockstep"]["steps"], 0);
}

TEST_F(ProfilerTest, SaysBeforeTheRunThatThereIsNoPlaceForTheFile) {
  TrainerOptions options;
  options.profile.file = path("missing/trace.json");
  test::expect_error<Error>([&] { train(2, "run", small_run(), options); }, "there is no folder");
  options.profile.file = path(".");
  test::expect_error<Error>([&] { train(1, "run", small_run(), options); }, "is a folder");
}

}  // namespace
}  // namespace lockstep::train

#include "train/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/profile_events.h"

namespace lockstep::train {
namespace {

using profile::Category;

std::vector<std::vector<std::string>> tracks_of(const std::vector<profile::Event>& events) {
  std::vector<std::vector<std::string>> names;
  for (const std::vector<profile::Event>& track : nesting_tracks(events)) {
    names.emplace_back();
    for (const profile::Event& event : track) names.back().push_back(event.name);
  }
  return names;
}

TEST(Timeline, NestedAndConsecutiveSpansShareATrack) {
  const auto kind = Category::kOther;
  EXPECT_EQ(tracks_of({made_up(kind, "outer", 0, 10), made_up(kind, "inner", 0, 4),
                       made_up(kind, "next", 4, 10), made_up(kind, "later", 10, 12)}),
            (std::vector<std::vector<std::string>>{{"outer", "inner", "next", "later"}}));
  EXPECT_TRUE(tracks_of({}).empty());
}

TEST(Timeline, OverlappingSpansGetTracksOfTheirOwn) {
  const auto kind = Category::kCommunication;
  EXPECT_EQ(tracks_of({made_up(kind, "a", 0, 10), made_up(kind, "b", 5, 15), made_up(kind, "c", 8, 20),
                       made_up(kind, "d", 12, 14), made_up(kind, "e", 16, 21)}),
            (std::vector<std::vector<std::string>>{{"a", "d", "e"}, {"b"}, {"c"}}));
}

TEST(Timeline, ARankIsAProcessWithNamedLanes) {
  profile::Recorder recorder;
  recorder.lane("compute").add(operation(Category::kForward, "conv \"2d\"", 5, 7, "layer1", {100, 8}));
  recorder.lane("loader 1").add(made_up(Category::kData, "samples", 6, 9));
  recorder.lane("communication").add(made_up(Category::kCommunication, "bucket 0", 6, 9));
  const auto events = nlohmann::json::parse("[" + trace_events(recorder, 3, at(5)) + "]");

  std::vector<std::string> lanes;
  for (const auto& event : events) {
    EXPECT_EQ(event["pid"], 3);
    if (event["name"] == "process_name") {
      EXPECT_EQ(event["args"]["name"].get<std::string>().rfind("rank 3 (", 0), 0U);
    }
    if (event["name"] == "thread_name") lanes.push_back(event["args"]["name"]);
  }
  EXPECT_EQ(lanes, (std::vector<std::string>{"compute", "communication", "loader 1"}));

  for (const auto& event : events) {
    if (event["name"] != "conv \"2d\"") continue;
    EXPECT_EQ(event["ph"], "X");
    EXPECT_EQ(event["cat"], "forward");
    EXPECT_EQ(event["ts"], 0);
    EXPECT_EQ(event["dur"], 2000);
    EXPECT_EQ(event["args"]["layer"], "layer1");
    EXPECT_EQ(event["args"]["flops"], 100);
    EXPECT_EQ(event["args"]["bytes"], 8);
    return;
  }
  FAIL() << "the event is missing";
}

}  // namespace
}  // namespace lockstep::train

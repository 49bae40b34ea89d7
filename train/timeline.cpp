#include "train/timeline.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

using nlohmann::ordered_json;
using profile::Event;

double microseconds(profile::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Names of processes and threads, and their order on the screen.
ordered_json metadata(const char* name, int rank, int thread, const ordered_json& arguments) {
  return {{"ph", "M"}, {"name", name}, {"pid", rank}, {"tid", thread}, {"args", arguments}};
}

ordered_json complete_event(const Event& event, int rank, int thread, profile::Clock::time_point zero) {
  ordered_json json{{"ph", "X"},
                    {"name", event.name},
                    {"cat", profile::name_of(event.category)},
                    {"pid", rank},
                    {"tid", thread},
                    {"ts", microseconds(event.start - zero)},
                    {"dur", microseconds(event.end - event.start)}};
  if (!event.layer.empty()) json["args"]["layer"] = event.layer;
  if (event.work.operations > 0) json["args"]["flops"] = event.work.operations;
  if (event.work.bytes > 0) json["args"]["bytes"] = event.work.bytes;
  return json;
}

/// The thread that trains comes first, since its lane was made first; others start in any order.
std::vector<const profile::Lane*> ordered_lanes(const profile::Recorder& recorder) {
  std::vector<const profile::Lane*> lanes = recorder.lanes();
  if (!lanes.empty()) {
    std::sort(lanes.begin() + 1, lanes.end(),
              [](const profile::Lane* a, const profile::Lane* b) { return a->name() < b->name(); });
  }
  return lanes;
}

}  // namespace

std::vector<std::vector<Event>> nesting_tracks(const std::vector<Event>& events) {
  struct Track {
    std::vector<Event> events;
    std::vector<profile::Clock::time_point> open;  // ends of the spans around the next one, outermost first
  };
  std::vector<Track> tracks;
  const auto fits = [](Track& track, const Event& event) {
    while (!track.open.empty() && track.open.back() <= event.start) track.open.pop_back();
    return track.open.empty() || event.end <= track.open.back();
  };
  for (const Event& event : events) {
    auto track = std::find_if(tracks.begin(), tracks.end(), [&](Track& t) { return fits(t, event); });
    if (track == tracks.end()) track = tracks.emplace(tracks.end());
    track->events.push_back(event);
    track->open.push_back(event.end);
  }
  std::vector<std::vector<Event>> result;
  for (Track& track : tracks) result.push_back(std::move(track.events));
  return result;
}

std::string trace_events(const profile::Recorder& recorder, int rank, profile::Clock::time_point zero) {
  std::vector<ordered_json> objects;
  objects.push_back(
      metadata("process_name", rank, 0, {{"name", to_text("rank ", rank, " (", host_name(), ")")}}));
  objects.push_back(metadata("process_sort_index", rank, 0, {{"sort_index", rank}}));
  int thread = 0;
  for (const profile::Lane* lane : ordered_lanes(recorder)) {
    int further = 0;
    for (const std::vector<Event>& track : nesting_tracks(lane->events())) {
      ++further;
      const std::string name = further == 1 ? lane->name() : to_text(lane->name(), " (", further, ")");
      objects.push_back(metadata("thread_name", rank, thread, {{"name", name}}));
      objects.push_back(metadata("thread_sort_index", rank, thread, {{"sort_index", thread}}));
      for (const Event& event : track) objects.push_back(complete_event(event, rank, thread, zero));
      ++thread;
    }
  }
  std::string text;
  for (const ordered_json& object : objects) text += (text.empty() ? "" : ",\n") + object.dump();
  return text;
}

}  // namespace lockstep::train

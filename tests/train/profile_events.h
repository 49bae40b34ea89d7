// Made-up events, times in milliseconds from the start of the profile.
#pragma once

#include <string>

#include "runtime/profile.h"

namespace lockstep::train {

inline profile::Clock::time_point at(int64_t milliseconds) {
  return profile::Clock::time_point(std::chrono::milliseconds(milliseconds));
}

inline profile::Event made_up(profile::Category category, const std::string& name, int64_t start,
                              int64_t end) {
  profile::Event event;
  event.category = category;
  event.name = name;
  event.start = at(start);
  event.end = at(end);
  return event;
}

inline profile::Event operation(profile::Category category, const std::string& name, int64_t start,
                                int64_t end, const std::string& layer, const profile::Work& work) {
  profile::Event event = made_up(category, name, start, end);
  event.layer = layer;
  event.work = work;
  return event;
}

}  // namespace lockstep::train

// A profile as a trace that ui.perfetto.dev and chrome://tracing open: a process per rank, a lane per thread.
// Format: "Trace Event Format", Google, as Perfetto reads it (https://perfetto.dev/docs/faq).
#pragma once

#include <string>
#include <vector>

#include "runtime/profile.h"

namespace lockstep::train {

/// The tracks that show a lane: spans of a track lie one after another or one inside another, as viewers
/// want it; what overlaps otherwise, as collectives do, goes to a further track. `events` by start.
std::vector<std::vector<profile::Event>> nesting_tracks(const std::vector<profile::Event>& events);

/// The events of a rank as the inside of the array "traceEvents": objects with commas between them. `zero`
/// is the moment that the trace begins at, on this rank's clock.
std::string trace_events(const profile::Recorder& recorder, int rank, profile::Clock::time_point zero);

}  // namespace lockstep::train

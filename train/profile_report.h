// A profile in figures: tables for people, an object for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/machine_peaks.h"
#include "train/step_profile.h"

namespace lockstep::train {

/// What a step was profiled with.
struct ProfiledRun {
  MachinePeaks peaks;
  int ranks = 1;
  int threads = 1;  ///< per rank
};

/// The share of the roofline that an operation reaches: the least time that its operations and bytes can take
/// at the peaks, over the time that it took (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009).
double share_of_roofline(const profile::Work& work, double seconds, const MachinePeaks& peaks);

/// The costliest operations, and the phases of a step. Lines without line ends.
std::vector<std::string> profile_tables(const StepProfile& profile, const ProfiledRun& run);

/// What the file of a profile has under "lockstep"; docs/profiling.md names the fields.
nlohmann::ordered_json profile_figures(const StepProfile& profile, const ProfiledRun& run);

}  // namespace lockstep::train

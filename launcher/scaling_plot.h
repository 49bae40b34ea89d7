// The picture of scaling over ranks.
#pragma once

#include <string>
#include <vector>

#include "launcher/scaling.h"

namespace lockstep::launcher {

/// Of at least one series, all over the same ranks: a gnuplot program with the data in it, which draws
/// scaling.svg and scaling.png: samples per second over ranks, a line for each series with the range of its
/// runs, and beside it the ideal: the first row's speed per rank times the ranks.
std::string scaling_plot(const std::vector<ScalingSeries>& all, const std::string& title);

}  // namespace lockstep::launcher

#include "train/profile_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

constexpr size_t kShownOperations = 10;
constexpr double kGiga = 1e9;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// A figure, or nothing where there is none.
std::string figure(const char* pattern, double value) {
  return value > 0 ? format(pattern, value) : "-";
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

std::string operation_line(const OperationCost& cost, double step, const MachinePeaks& peaks) {
  const std::string layer = cost.layer.empty() ? "-"
                                               : format("%s (%.0f %%)", cost.layer.c_str(),
                                                        percent(cost.layer_seconds, cost.seconds));
  return format("%-19.19s %-8s %8.0f %9.3f %6.1f %% %8s %7s %7.0f %%  %s", cost.name.c_str(),
                cost.backward ? "backward" : "forward", cost.calls, 1000 * cost.seconds,
                percent(cost.seconds, step),
                figure("%.1f", cost.work.operations / cost.seconds / kGiga).c_str(),
                figure("%.1f", cost.work.bytes / cost.seconds / kGiga).c_str(),
                100 * share_of_roofline(cost.work, cost.seconds, peaks), layer.c_str());
}

std::string phase_line(const std::string& name, const std::vector<double>& seconds, double step) {
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const double middle = median(seconds);
  return format("%-14s %9.3f %9.3f .. %-9.3f %6.1f %%", name.c_str(), 1000 * middle, 1000 * *least,
                1000 * *most, percent(middle, step));
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

double share_of_roofline(const profile::Work& work, double seconds, const MachinePeaks& peaks) {
  if (seconds <= 0) return 0;
  return std::max(work.operations / peaks.flops, work.bytes / peaks.bandwidth) / seconds;
}

std::vector<std::string> profile_tables(const StepProfile& profile, const ProfiledRun& run) {
  if (profile.steps.empty()) return {"no step was profiled"};
  const double step = mean(profile.steps);
  std::vector<std::string> lines;
  lines.push_back(
      format("the costliest operations of a step, rank 0 of %d, mean of %zu steps; peaks of a rank of %d "
             "thread%s: %.1f GFLOP/s (%s), %.1f GB/s",
             run.ranks, profile.steps.size(), run.threads, run.threads == 1 ? "" : "s",
             run.peaks.flops / kGiga, run.peaks.instructions.c_str(), run.peaks.bandwidth / kGiga));
  lines.push_back(
      "operation           pass        calls        ms    share  GFLOP/s    GB/s roofline  costliest layer");
  const size_t shown = std::min(kShownOperations, profile.operations.size());
  for (size_t i = 0; i < shown; ++i) lines.push_back(operation_line(profile.operations[i], step, run.peaks));
  lines.push_back(format("phases of a step, median and range of %zu steps", profile.steps.size()));
  lines.push_back("phase                 ms            range           share");
  const double middle = median(profile.steps);
  for (const PhaseCost& phase : profile.phases)
    lines.push_back(phase_line(phase.name, phase.seconds, middle));
  lines.push_back(phase_line("step", profile.steps, middle));
  return lines;
}

nlohmann::ordered_json profile_figures(const StepProfile& profile, const ProfiledRun& run) {
  nlohmann::ordered_json figures;
  figures["ranks"] = run.ranks;
  figures["threads"] = run.threads;
  figures["steps"] = profile.steps.size();
  figures["peak_flops"] = run.peaks.flops;
  figures["memory_bandwidth"] = run.peaks.bandwidth;
  figures["instructions"] = run.peaks.instructions;
  figures["flops_per_step"] = profile.work.operations;
  figures["bytes_per_step"] = profile.work.bytes;
  figures["step_seconds"] = median(profile.steps);
  for (const PhaseCost& phase : profile.phases) figures["phases"][phase.name] = median(phase.seconds);
  figures["operations"] = nlohmann::ordered_json::array();
  for (const OperationCost& cost : profile.operations) {
    figures["operations"].push_back({{"name", cost.name},
                                     {"pass", cost.backward ? "backward" : "forward"},
                                     {"calls", cost.calls},
                                     {"seconds", cost.seconds},
                                     {"flops", cost.work.operations},
                                     {"bytes", cost.work.bytes},
                                     {"costliest_layer", cost.layer}});
  }
  return figures;
}

}  // namespace lockstep::train

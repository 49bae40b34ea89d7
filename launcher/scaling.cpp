#include "launcher/scaling.h"

#include <algorithm>
#include <numeric>

#include "launcher/text_table.h"
#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

std::string rate_text(double samples_per_second) {
  return formatted(samples_per_second < 100 ? "%.2f" : "%.0f", samples_per_second);
}

/// "forward" of "forward_seconds".
std::string phase_name(const std::string& field) {
  return field.substr(0, field.rfind('_'));
}

Cells heading() {
  Cells cells{"ranks", "batch", "samples/s", "slowest to fastest", "efficiency", "ms per step"};
  for (const char* field : kPhases) cells.push_back(phase_name(field));
  cells.emplace_back("peak memory");
  return cells;
}

Cells cells_of(const ScalingRow& row, bool shares_cores) {
  Cells cells{to_text(row.what.ranks, shares_cores ? " *" : ""),
              std::to_string(row.what.global_batch),
              rate_text(row.middle.samples_per_second),
              to_text(rate_text(row.least), " to ", rate_text(row.greatest)),
              formatted("%.1f %%", 100 * row.efficiency),
              formatted("%.2f", 1e3 * row.middle.step_seconds())};
  for (const double seconds : row.middle.phases) cells.push_back(formatted("%.2f", 1e3 * seconds));
  cells.push_back(formatted("%.0f MiB", static_cast<double>(row.middle.peak_memory) / (1 << 20)));
  return cells;
}

}  // namespace

const char* name_of(ScalingMode mode) {
  return mode == ScalingMode::kWeak ? "weak" : "strong";
}

ScalingCase scaling_case(ScalingMode mode, int ranks, int64_t batch) {
  return {.ranks = ranks, .global_batch = mode == ScalingMode::kWeak ? batch * ranks : batch};
}

double RunFigures::step_seconds() const {
  return std::accumulate(phases.begin(), phases.end(), 0.0);
}

RunFigures figures_of(const std::vector<train::MetricsLine>& lines, int64_t warmup) {
  RunFigures figures;
  int64_t samples_before = 0;
  int64_t samples = 0;
  int64_t steps = 0;
  for (const train::MetricsLine& line : lines) {
    if (!line.fields.contains("samples")) continue;  // an evaluation
    samples = line.fields["samples"].get<int64_t>();
    if (line.step <= warmup) {
      samples_before = samples;
      continue;
    }
    ++steps;
    for (size_t i = 0; i < kPhases.size(); ++i) figures.phases[i] += line.fields[kPhases[i]].get<double>();
    figures.peak_memory = static_cast<int64_t>(line.fields["peak_memory_bytes"].get<double>());
  }
  check<DataError>(steps > 0, "bench scaling", "the metrics end before step ", warmup + 1);
  figures.samples_per_second = static_cast<double>(samples - samples_before) / figures.step_seconds();
  for (double& phase : figures.phases) phase /= static_cast<double>(steps);
  return figures;
}

std::vector<ScalingRow> scaling_rows(const std::vector<ScalingCase>& cases, const ScalingRuns& runs) {
  std::vector<ScalingRow> rows;
  for (const ScalingCase& what : cases) {
    std::vector<RunFigures> sorted = runs.at(what);
    std::ranges::sort(sorted, {}, &RunFigures::samples_per_second);
    ScalingRow row{.what = what,
                   .middle = sorted[(sorted.size() - 1) / 2],
                   .least = sorted.front().samples_per_second,
                   .greatest = sorted.back().samples_per_second};
    const auto per_rank = [](const ScalingRow& of) { return of.middle.samples_per_second / of.what.ranks; };
    row.efficiency = per_rank(row) / per_rank(rows.empty() ? row : rows.front());
    rows.push_back(row);
  }
  return rows;
}

std::string scaling_table(const ScalingSeries& series, int threads, int cores) {
  const auto shares_cores = [&](const ScalingRow& row) { return row.what.ranks * threads > cores; };
  std::vector<Cells> lines{heading()};
  for (const ScalingRow& row : series.rows) lines.push_back(cells_of(row, shares_cores(row)));
  std::string text = text_table(lines);
  if (std::ranges::any_of(series.rows, shares_cores)) {
    text += to_text("\n\\* more threads than the ", cores, cores == 1 ? " core" : " cores",
                    ": the ranks share them, and more speed cannot be had.\n");
  }
  return text;
}

}  // namespace lockstep::launcher

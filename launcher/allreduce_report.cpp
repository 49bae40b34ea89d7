#include "launcher/allreduce_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "launcher/text_table.h"
#include "runtime/error.h"
#include "train/gnuplot.h"

namespace lockstep::launcher {
namespace {

constexpr double kWorthChanging = 1.05;

bool like_first(const AllreduceRow& row, const std::vector<AllreduceRow>& rows) {
  return row.what.dtype == rows.front().what.dtype && row.what.codec == rows.front().what.codec;
}

/// Null for "auto" and for what is not lockstep's.
const comm::Algorithm* algorithm_of(const AllreduceRow& row) {
  for (const comm::Algorithm& algorithm : comm::algorithms()) {
    if (row.what.algorithm == algorithm.name) return &algorithm;
  }
  return nullptr;
}

using Times = std::map<const comm::Algorithm*, double>;

/// Median times by size and algorithm.
std::map<size_t, Times> eligible_times(const std::vector<AllreduceRow>& rows, bool tree_order_only) {
  std::map<size_t, Times> times;
  for (const AllreduceRow& row : rows) {
    const comm::Algorithm* algorithm = algorithm_of(row);
    const bool eligible = algorithm && (algorithm->tree_order || !tree_order_only);
    if (eligible && like_first(row, rows)) times[row.what.nbytes][algorithm] = row.p50_us;
  }
  return times;
}

}  // namespace

double AllreduceRow::algorithm_bandwidth() const {
  return static_cast<double>(what.nbytes) / p50_us / 1e3;
}

double AllreduceRow::bus_bandwidth() const {
  return algorithm_bandwidth() * 2 * (what.ranks - 1) / what.ranks;
}

double percentile(std::vector<double> values, double share) {
  ensure(!values.empty(), "percentile", "of no values");
  std::ranges::sort(values);
  const auto covered = static_cast<int64_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[static_cast<size_t>(std::max<int64_t>(covered, 1) - 1)];
}

AllreduceRow allreduce_row(const AllreduceCase& what, const std::vector<double>& seconds, int64_t wrong) {
  return {.what = what,
          .iterations = static_cast<int64_t>(seconds.size()),
          .p50_us = 1e6 * percentile(seconds, 0.5),
          .p99_us = 1e6 * percentile(seconds, 0.99),
          .wrong = wrong};
}

std::string allreduce_table(const std::vector<AllreduceRow>& rows) {
  std::vector<Cells> lines{{"bytes", "count", "dtype", "algorithm", "codec", "p50 [us]", "p99 [us]",
                            "algbw [GB/s]", "busbw [GB/s]", "wrong"}};
  for (const AllreduceRow& row : rows) {
    lines.push_back({std::to_string(row.what.nbytes), std::to_string(row.what.count), row.what.dtype,
                     row.what.algorithm, row.what.codec, formatted("%.2f", row.p50_us),
                     formatted("%.2f", row.p99_us), formatted("%.3f", row.algorithm_bandwidth()),
                     formatted("%.3f", row.bus_bandwidth()), std::to_string(row.wrong)});
  }
  return text_table(lines);
}

std::string allreduce_json_line(const AllreduceRow& row) {
  const nlohmann::ordered_json line{{"ranks", row.what.ranks},
                                    {"bytes", row.what.nbytes},
                                    {"count", row.what.count},
                                    {"dtype", row.what.dtype},
                                    {"algorithm", row.what.algorithm},
                                    {"codec", row.what.codec},
                                    {"iterations", row.iterations},
                                    {"p50_us", row.p50_us},
                                    {"p99_us", row.p99_us},
                                    {"algbw_gb_s", row.algorithm_bandwidth()},
                                    {"busbw_gb_s", row.bus_bandwidth()},
                                    {"wrong", row.wrong}};
  return line.dump() + '\n';
}

std::string allreduce_plot(const std::vector<AllreduceRow>& rows, const std::string& title) {
  std::vector<std::string> names;
  std::map<std::string, std::ostringstream> data;
  for (const AllreduceRow& row : rows) {
    if (!like_first(row, rows)) continue;
    if (!data.contains(row.what.algorithm)) names.push_back(row.what.algorithm);
    data[row.what.algorithm] << row.what.nbytes << ' ' << row.bus_bandwidth() << '\n';
  }
  std::ostringstream out;
  out << "# Draws allreduce.svg and allreduce.png: gnuplot allreduce.gnuplot\n";
  for (size_t i = 0; i < names.size(); ++i)
    out << "$series" << i << " << END\n" << data[names[i]].str() << "END\n";
  out << train::gnuplot_style() << train::gnuplot_begin("allreduce", 900, 560) << "set title "
      << train::gnuplot_text(title)
      << " noenhanced\nset xlabel \"bytes\"\nset ylabel \"bus bandwidth [GB/s]\"\n"
      << "set logscale x 2\nset format x \"%.0b%B\"\nset yrange [0:*]\nset key left top\nplot ";
  for (size_t i = 0; i < names.size(); ++i) {
    out << (i > 0 ? ", \\\n  " : "") << "$series" << i << " using 1:2 with linespoints linecolor " << i + 1
        << " pointtype " << i + 1 << " pointsize 0.7 title " << train::gnuplot_text(names[i])
        << " noenhanced";
  }
  out << '\n' << train::kGnuplotEnd;
  return out.str();
}

comm::Selection fastest_selection(const std::vector<AllreduceRow>& rows, bool tree_order_only) {
  std::vector<comm::SizeRange> ranges;
  size_t previous = 0;
  for (const auto& [nbytes, times] : eligible_times(rows, tree_order_only)) {
    const auto fastest = std::ranges::min_element(times, {}, [](const auto& entry) { return entry.second; });
    if (ranges.empty()) {
      ranges.push_back({fastest->first});
    } else {
      const auto kept = times.find(ranges.back().algorithm);
      if (kept == times.end() || kept->second > kWorthChanging * fastest->second) {
        const auto middle =
            static_cast<size_t>(std::sqrt(static_cast<double>(previous) * static_cast<double>(nbytes)));
        ranges.back().end = middle;
        ranges.push_back({fastest->first, middle});
      }
    }
    previous = nbytes;
  }
  check(!ranges.empty(), "bench allreduce", "no algorithm was measured that a selection could name");
  return comm::Selection(ranges);
}

}  // namespace lockstep::launcher

#include "launcher/scaling_plot.h"

#include <algorithm>
#include <sstream>

#include "runtime/error.h"
#include "train/gnuplot.h"

namespace lockstep::launcher {
namespace {

/// Columns: ranks; median, least and greatest samples per second; the ideal.
void write_data(const ScalingSeries& series, std::ostream& out) {
  out << '$' << name_of(series.mode) << " << END\n";
  const ScalingRow& first = series.rows.front();
  for (const ScalingRow& row : series.rows) {
    const double ideal = first.middle.samples_per_second / first.what.ranks * row.what.ranks;
    out << row.what.ranks << ' ' << row.middle.samples_per_second << ' ' << row.least << ' ' << row.greatest
        << ' ' << ideal << '\n';
  }
  out << "END\n";
}

}  // namespace

std::string scaling_plot(const std::vector<ScalingSeries>& all, const std::string& title) {
  std::ostringstream out;
  out << "# Draws scaling.svg and scaling.png: gnuplot scaling.gnuplot\n";
  for (const ScalingSeries& series : all) write_data(series, out);
  std::string tics;
  int most_ranks = 0;
  for (const ScalingRow& row : all.front().rows) {
    tics += to_text(tics.empty() ? "" : ", ", row.what.ranks);
    most_ranks = std::max(most_ranks, row.what.ranks);
  }
  out << train::gnuplot_style() << train::gnuplot_begin("scaling", 900, 520) << "set title "
      << train::gnuplot_text(title) << " noenhanced\nset xlabel \"ranks\"\nset ylabel \"samples/s\"\n"
      << "set xtics (" << tics << ")\nset xrange [0:" << most_ranks + 0.5 << "]\n"
      << "set yrange [0:*]\nset key left top\nplot ";
  int style = 0;
  for (const ScalingSeries& series : all) {
    const std::string name = name_of(series.mode);
    ++style;
    out << (style > 1 ? ", \\\n  " : "") << '$' << name << " using 1:2:3:4 with yerrorlines linestyle "
        << style << " pointtype 7 pointsize 0.7 title \"" << name << " scaling\", \\\n  $" << name
        << " using 1:5 with lines linestyle " << style << " dashtype 2 title \"ideal (" << name << ")\"";
  }
  out << '\n' << train::kGnuplotEnd;
  return out.str();
}

}  // namespace lockstep::launcher

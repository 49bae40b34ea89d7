#include "train/curves.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "runtime/log.h"
#include "train/gnuplot.h"

namespace lockstep::train {
namespace {

const std::string kEvaluation = "eval_";  // what the fields of an evaluation begin with

/// NaN, which gnuplot leaves out, where the line lacks the field or it is not finite (then it is a text).
double number(const MetricsLine& line, const std::string& field) {
  const auto found = line.fields.find(field);
  const bool is_number = found != line.fields.end() && found->is_number();
  return is_number ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Mean and range of the finite values of a span.
class Span {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    sum_ += value;
    ++count_;
    least_ = std::min(least_, value);
    greatest_ = std::max(greatest_, value);
  }
  bool empty() const { return count_ == 0; }
  double mean() const { return sum_ / count_; }
  void write(std::ostream& out) const {
    if (empty()) {
      out << " NaN NaN NaN";
    } else {
      out << ' ' << mean() << ' ' << least_ << ' ' << greatest_;
    }
  }

 private:
  double sum_ = 0;
  double count_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double greatest_ = -least_;
};

std::vector<const MetricsLine*> lines_with(const std::vector<MetricsLine>& lines, const char* field) {
  std::vector<const MetricsLine*> found;
  for (const MetricsLine& line : lines) {
    if (line.fields.contains(field)) found.push_back(&line);
  }
  return found;
}

/// What is drawn over the steps, each in a panel of its own: the loss, and what evaluations measure besides.
std::vector<std::string> series_of(const std::vector<const MetricsLine*>& evaluations) {
  std::vector<std::string> series{"loss"};
  for (const MetricsLine* line : evaluations) {
    for (const auto& [field, value] : line->fields.items()) {
      if (!field.starts_with(kEvaluation) || field == "eval_count" || field == "eval_bad_samples") continue;
      const std::string name = field.substr(kEvaluation.size());
      if (std::find(series.begin(), series.end(), name) == series.end()) series.push_back(name);
    }
  }
  return series;
}

/// Columns: the step; mean, least and greatest value of each series; the learning rate.
void write_training(const std::vector<const MetricsLine*>& lines, const std::vector<std::string>& series,
                    std::ostream& out) {
  out << "$training << END\n";
  const size_t points = std::min(lines.size(), kCurvePoints);
  for (size_t point = 0; point < points; ++point) {
    const size_t begin = point * lines.size() / points;
    const size_t end = (point + 1) * lines.size() / points;
    const MetricsLine& middle = *lines[(begin + end - 1) / 2];
    out << middle.step;
    for (const std::string& name : series) {
      Span span;
      for (size_t i = begin; i < end; ++i) span.add(number(*lines[i], name));
      span.write(out);
    }
    out << ' ' << number(middle, "lr") << '\n';
  }
  out << "END\n";
}

/// Columns: the step; the value of each series.
void write_evaluations(const std::vector<const MetricsLine*>& lines, const std::vector<std::string>& series,
                       std::ostream& out) {
  out << "$evaluation << END\n";
  for (const MetricsLine* line : lines) {
    out << line->step;
    for (const std::string& name : series) out << ' ' << number(*line, kEvaluation + name);
    out << '\n';
  }
  out << "END\n";
}

/// The panel of one series, by its place among them. A loss falls from the upper left, most metrics rise to
/// the upper right: the key is where they are not.
void write_panel(const std::string& name, size_t place, double last, std::ostream& out) {
  const size_t mean = 2 + 3 * place;
  out << "set ylabel " << gnuplot_text(name) << " noenhanced\nset key right "
      << (place == 0 ? "top" : "bottom") << "\nplot $training using 1:" << mean + 1 << ':' << mean + 2
      << " with filledcurves linestyle 3 notitle, \\\n"
      << "  $training using 1:" << mean << " with lines linestyle 1 title \"training\"";
  if (std::isfinite(last)) {
    out << ", \\\n  $evaluation using 1:" << 2 + place
        << " with linespoints linestyle 2 title \"evaluation (last: " << std::setprecision(4) << last
        << std::setprecision(6) << ")\"";
  }
  out << '\n';
}

}  // namespace

std::string curves_program(const std::vector<MetricsLine>& lines, const std::string& title) {
  const auto training = lines_with(lines, "loss");
  if (training.empty()) return "";
  const auto evaluations = lines_with(lines, "eval_loss");
  const std::vector<std::string> series = series_of(evaluations);
  const size_t panels = series.size() + 1;
  std::ostringstream out;
  out << "# Draws curves.svg and curves.png: gnuplot curves.gnuplot\n";
  write_training(training, series, out);
  write_evaluations(evaluations, series, out);
  out << gnuplot_style() << "set xrange [0:" << lines.back().step << "]\n"
      << gnuplot_begin("curves", 900, 60 + 260 * static_cast<int>(panels)) << "set multiplot layout "
      << panels << ",1 title " << gnuplot_text(title)
      << " noenhanced margins char 11, char 3, char 4, char 3 spacing char 0, char 2\n"
      << "set format x \"\"\nunset xlabel\nset yrange [*:*]\n";
  for (size_t place = 0; place < series.size(); ++place) {
    const double last = evaluations.empty() ? std::numeric_limits<double>::quiet_NaN()
                                            : number(*evaluations.back(), kEvaluation + series[place]);
    write_panel(series[place], place, last, out);
  }
  out << "set format x \"%.0f\"\nset xlabel \"optimizer step\"\nset ylabel \"learning rate\"\n"
      << "set yrange [0:*]\nunset key\n"
      << "plot $training using 1:" << 2 + 3 * series.size() << " with lines linestyle 1\n"
      << "unset multiplot\n"
      << kGnuplotEnd;
  return out.str();
}

bool draw_curves(const RunDirectory& run, const CurveOptions& options) {
  std::string problem;
  try {
    const std::string program = curves_program(read_metrics(run.metrics()), options.title);
    if (program.empty()) return false;
    problem = draw(run.root, "curves", program, options.gnuplot);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) log::info("no curves were drawn; ", problem);
  return problem.empty();
}

}  // namespace lockstep::train
